// SPDX-License-Identifier: Apache-2.0
#include "bench/device/host/host_memory.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

namespace mergewise {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A root directory with only the files that a test writes.
class AvailableMemory : public testing::Test {
 protected:
  AvailableMemory()
      : root_(fs::temp_directory_path() /
              ("mergewise-memory-" + std::to_string(getpid()) + "-" +
               testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~AvailableMemory() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  const fs::path root_;
};

TEST_F(AvailableMemory, IsTheMachinesWhenThereIsNoLimit) {
  write("proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:    1000 kB\n");
  write("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(available_memory(root_), 1000 * 1024);
}

TEST_F(AvailableMemory, IsUnlimitedWhenNothingCanBeRead) {
  EXPECT_EQ(available_memory(root_), std::numeric_limits<Bytes>::max());
}

TEST_F(AvailableMemory, IsWhatTheGroupOrAParentLeaves) {
  write("proc/meminfo", "MemAvailable: 1000 kB\n");
  write("proc/self/cgroup", "0::/job/rank\n");
  write("sys/fs/cgroup/job/memory.max", "5000\n");
  write("sys/fs/cgroup/job/memory.current", "4000\n");
  write("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 300\n");
  write("sys/fs/cgroup/job/rank/memory.max", "max\n");
  write("sys/fs/cgroup/job/rank/memory.current", "10\n");
  EXPECT_EQ(available_memory(root_), 1300);
  write("sys/fs/cgroup/job/rank/memory.max", "100\n");
  EXPECT_EQ(available_memory(root_), 90);
}

TEST_F(AvailableMemory, OfAContainerIsReadAtTheMountWhenThePathIsTheHosts) {
  write("proc/self/cgroup", "0::/host/path/of/the/container\n");
  write("sys/fs/cgroup/memory.max", "700\n");
  write("sys/fs/cgroup/memory.current", "200\n");
  EXPECT_EQ(available_memory(root_), 500);
}

TEST_F(AvailableMemory, KnowsTheFilesOfVersion1) {
  write("proc/self/cgroup", "5:cpu:/job\n4:memory:/job\n0::/\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "900\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "500\n");
  write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 50\n");
  EXPECT_EQ(available_memory(root_), 450);
}

TEST_F(AvailableMemory, IsNeverNegative) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "700\n");
  write("sys/fs/cgroup/memory.current", "800\n");
  EXPECT_EQ(available_memory(root_), 0);
}

TEST(HostBuffer, TakesWhatIsAvailableAndNoMore) {
  EXPECT_EQ(make_host_buffer(2048, 2048)->size(), 2048);
  try {
    static_cast<void>(make_host_buffer(2049, 2048));
    FAIL();
  } catch (const BackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr("2049 bytes"));
    EXPECT_THAT(error.what(), HasSubstr("2.0 KiB are available"));
  }
}

TEST(HostBuffer, ANegativeSizeIsABug) {
  EXPECT_THROW(static_cast<void>(make_host_buffer(-1)), std::logic_error);
}

}  // namespace
}  // namespace mergewise
