// SPDX-License-Identifier: Apache-2.0
#include "bench/result/environment.hpp"

#include "bench/result/cgroup.hpp"
#include "bench/result/git_revision.hpp"
#include "bench/result/processor.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

namespace mergewise {
namespace {

using nlohmann::json;

TEST(Cgroup, ReadsVersion2UpToTheRoot) {
  const TemporaryFolder mount;
  mount.write("a/cpu.max", "150000 100000\n");
  mount.write("a/b/cpu.max", "max 100000\n");
  mount.write("a/memory.max", "max\n");
  mount.write("a/b/memory.max", "1048576\n");
  const CgroupLimits limits = read_cgroup_limits("0::/a/b\n", mount.path());
  EXPECT_EQ(limits.version, 2);
  EXPECT_EQ(limits.processors, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1048576);
}

TEST(Cgroup, TakesTheLeastOfAllEnclosingLimits) {
  const TemporaryFolder mount;
  mount.write("cpu.max", "400000 100000\n");
  mount.write("a/cpu.max", "200000 100000\n");
  mount.write("a/b/cpu.max", "300000 100000\n");
  EXPECT_EQ(read_cgroup_limits("0::/a/b\n", mount.path()).processors, 2);
}

TEST(Cgroup, ReadsVersion1) {
  const TemporaryFolder mount;
  mount.write("cpu,cpuacct/docker/x/cpu.cfs_quota_us", "50000\n");
  mount.write("cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  mount.write("memory/docker/x/memory.limit_in_bytes", "2097152\n");
  const CgroupLimits limits = read_cgroup_limits(
      "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/y\n", mount.path());
  EXPECT_EQ(limits.version, 1);
  EXPECT_EQ(limits.processors, 0.5);
  EXPECT_EQ(limits.memory_bytes, 2097152);
}

TEST(Cgroup, Version1WithoutLimitsIsUnlimited) {
  const TemporaryFolder mount;
  mount.write("cpu/cpu.cfs_quota_us", "-1\n");
  mount.write("cpu/cpu.cfs_period_us", "100000\n");
  mount.write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  const CgroupLimits limits = read_cgroup_limits("2:cpu:/\n1:memory:/\n0::/\n", mount.path());
  EXPECT_EQ(limits.version, 1);
  EXPECT_FALSE(limits.processors.has_value());
  EXPECT_FALSE(limits.memory_bytes.has_value());
}

TEST(Cgroup, InsideAContainerTheMountIsTheGroupItself) {
  const TemporaryFolder mount;
  mount.write("cpu/cpu.cfs_quota_us", "300000\n");
  mount.write("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read_cgroup_limits("4:cpu:/docker/not-below-the-mount\n", mount.path()).processors, 3);
}

TEST(Cgroup, KnowsNothingWhereThereIsNothing) {
  const TemporaryFolder mount;
  for (const char* text : {"", "nonsense\n", "0::/a\n", "::\n"}) {
    const CgroupLimits limits = read_cgroup_limits(text, mount.path());
    EXPECT_FALSE(limits.processors.has_value()) << text;
    EXPECT_FALSE(limits.memory_bytes.has_value()) << text;
  }
}

TEST(ProcessorList, JoinsRuns) {
  EXPECT_EQ(processor_list({}), "");
  EXPECT_EQ(processor_list({3}), "3");
  EXPECT_EQ(processor_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(AllowedProcessors, FollowsTheAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(allowed_processors(), 1);
  EXPECT_LE(allowed_processors(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(affinity().back()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(allowed_processors(), 1);
  EXPECT_EQ(affinity().size(), 1U);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

json result_schema() {
  std::ifstream file(MERGEWISE_SOURCE_DIR "/docs/schema/result.schema.json");
  return json::parse(file);
}

std::set<std::string> keys(const json& object) {
  std::set<std::string> names;
  for (const auto& item : object.items()) names.insert(item.key());
  return names;
}

TEST(Environment, OnlyASimulationMayLeaveOutTheMachine) {
  const json schema = result_schema();
  EXPECT_EQ(schema["if"]["properties"]["simulated"]["const"], false);
  EXPECT_EQ(schema["then"]["properties"]["environment"]["required"].get<std::set<std::string>>(),
            keys(capture_environment()));
  EXPECT_EQ(schema["$defs"]["environment"]["required"].get<std::set<std::string>>(),
            keys(describe_program()));
}

TEST(Environment, HasTheDocumentedKeys) {
  const json environment = capture_environment();
  const json schema = result_schema()["$defs"]["environment"];
  for (const auto& part : schema["properties"].items()) {
    ASSERT_TRUE(environment.contains(part.key())) << part.key();
    if (!part.value().contains("required")) continue;
    for (const json& key : part.value()["required"]) {
      EXPECT_TRUE(environment[part.key()].contains(key.get<std::string>())) << key;
    }
    EXPECT_EQ(environment[part.key()].size(), part.value()["required"].size()) << part.key();
  }
  EXPECT_TRUE(environment["mergewise"]["version"].is_string());
  EXPECT_EQ(environment["processor"]["allowed"], allowed_processors());
  EXPECT_GT(environment["memory"]["total_bytes"], 0);
}

TEST(Environment, TakesSettingsByAnAllowList) {
  ::setenv("NCCL_DEBUG", "INFO", 1);
  ::setenv("OMP_NUM_THREADS", "3", 1);
  ::setenv("SLURM_JOB_ID", "42", 1);
  ::setenv("SLURM_JOB_USER", "secret-user", 1);
  ::setenv("MY_NCCL_TOKEN", "secret-token", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "secret-key", 1);
  const json environment = capture_environment();
  const json& settings = environment["settings"];
  EXPECT_EQ(settings["NCCL_DEBUG"], "INFO");
  EXPECT_EQ(settings["OMP_NUM_THREADS"], "3");
  EXPECT_EQ(settings["SLURM_JOB_ID"], "42");
  EXPECT_EQ(environment.dump().find("secret-"), std::string::npos);
  for (const char* name : {"NCCL_DEBUG", "OMP_NUM_THREADS", "SLURM_JOB_ID", "SLURM_JOB_USER",
                           "MY_NCCL_TOKEN", "AWS_SECRET_ACCESS_KEY"}) {
    ::unsetenv(name);
  }
}

TEST(Environment, NamesTheRevisionAndWhetherItWasChanged) {
  const json build = capture_environment()["mergewise"];
  if (git_revision().revision.empty()) {  // sources without a checkout
    EXPECT_TRUE(build["git_revision"].is_null());
    EXPECT_TRUE(build["git_dirty"].is_null());
  } else {
    EXPECT_EQ(build["git_revision"], std::string(git_revision().revision));
    EXPECT_GE(git_revision().revision.size(), 40U);
    EXPECT_TRUE(build["git_dirty"].is_boolean());
  }
}

}  // namespace
}  // namespace mergewise
