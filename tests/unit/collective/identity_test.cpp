// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/rank.hpp"
#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

RankIdentity find(const std::map<std::string, std::string>& variables,
                  const RankFlags& flags = {}) {
  return find_identity(flags, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

void expect(const RankIdentity& found, int rank, int size, int local, const std::string& source) {
  EXPECT_EQ(found.rank, rank);
  EXPECT_EQ(found.size, size);
  EXPECT_EQ(found.local_rank, local);
  EXPECT_EQ(found.source, source);
}

TEST(RankIdentity, IsAloneWhenNobodySaysOtherwise) { expect(find({}), 0, 1, 0, "alone"); }

TEST(RankIdentity, FlagsBeatEveryVariable) {
  expect(find({{"RANK", "1"}, {"WORLD_SIZE", "2"}}, {3, 4, 1}), 3, 4, 1, "flags");
}

TEST(RankIdentity, LocalRankDefaultsToRank) { expect(find({}, {3, 4, {}}), 3, 4, 3, "flags"); }

TEST(RankIdentity, ReadsTorchStyleVariables) {
  expect(find({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}}), 5, 8, 1, "RANK");
}

TEST(RankIdentity, ReadsOpenMpi) {
  expect(find({{"OMPI_COMM_WORLD_RANK", "2"},
               {"OMPI_COMM_WORLD_SIZE", "4"},
               {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}),
         2, 4, 0, "OMPI_COMM_WORLD_RANK");
}

TEST(RankIdentity, ReadsPmi) {
  expect(find({{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}}), 2, 4, 1,
         "PMI_RANK");
}

TEST(RankIdentity, ReadsSlurmInsideAnSrunStep) {
  expect(find({{"SLURM_STEP_ID", "0"},
               {"SLURM_PROCID", "3"},
               {"SLURM_NTASKS", "4"},
               {"SLURM_LOCALID", "1"}}),
         3, 4, 1, "SLURM_PROCID");
}

TEST(RankIdentity, TakesTheStepsTasksNotTheJobs) {
  expect(find({{"SLURM_STEP_ID", "2"},
               {"SLURM_PROCID", "1"},
               {"SLURM_NTASKS", "16"},
               {"SLURM_STEP_NUM_TASKS", "2"}}),
         1, 2, 1, "SLURM_PROCID");
}

TEST(RankIdentity, IgnoresSlurmInABatchScript) {
  expect(find({{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), 0, 1, 0,
         "alone");
}

TEST(RankIdentity, IgnoresSlurmsReservedSteps) {
  for (const char* step : {"4294967291", "4294967292", "4294967290"}) {
    expect(find({{"SLURM_STEP_ID", step}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), 0, 1, 0,
           "alone");
  }
}

TEST(RankIdentity, IgnoresSlurmUnderSalloc) {
  expect(find({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}}), 0, 1, 0, "alone");
}

TEST(RankIdentity, PrefersALauncherInsideSlurm) {
  expect(find({{"SLURM_STEP_ID", "0"},
               {"SLURM_PROCID", "0"},
               {"SLURM_NTASKS", "1"},
               {"OMPI_COMM_WORLD_RANK", "1"},
               {"OMPI_COMM_WORLD_SIZE", "2"}}),
         1, 2, 1, "OMPI_COMM_WORLD_RANK");
}

TEST(RankIdentity, RejectsHalfAnIdentity) {
  EXPECT_THAT(
      [] {
        find({{"RANK", "1"}});
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("RANK"), HasSubstr("WORLD_SIZE"))));
  EXPECT_THAT(
      [] {
        find({{"WORLD_SIZE", "2"}});
      },
      ThrowsMessage<InputError>(HasSubstr("WORLD_SIZE is set without RANK")));
  EXPECT_THAT(
      [] {
        find({}, {1, {}, {}});
      },
      ThrowsMessage<InputError>(HasSubstr("--rank is given without --world-size")));
  EXPECT_THAT(
      [] {
        find({}, {{}, 4, {}});
      },
      ThrowsMessage<InputError>(HasSubstr("--world-size is given without --rank")));
  EXPECT_THAT(
      [] {
        find({}, {{}, {}, 0});
      },
      ThrowsMessage<InputError>(HasSubstr("--local-rank is given without --rank")));
}

TEST(RankIdentity, RejectsAnImpossibleOne) {
  EXPECT_THAT(
      [] {
        find({{"RANK", "4"}, {"WORLD_SIZE", "4"}});
      },
      ThrowsMessage<InputError>(HasSubstr("RANK is 4 and WORLD_SIZE is 4")));
  EXPECT_THAT([] { find({}, {-1, 4, {}}); }, ThrowsMessage<InputError>(HasSubstr("--rank is -1")));
  EXPECT_THAT([] { find({}, {0, 0, {}}); }, ThrowsMessage<InputError>(HasSubstr("is 0")));
  EXPECT_THAT([] { find({}, {0, 1, -2}); }, ThrowsMessage<InputError>(HasSubstr("-2")));
}

TEST(RankIdentity, RejectsWhatIsNoNumber) {
  for (const char* rank : {"one", "", "1x", "-1", " 1", "99999999999999999999"}) {
    EXPECT_THAT(
        [&] {
          find({{"RANK", rank}, {"WORLD_SIZE", "2"}});
        },
        ThrowsMessage<InputError>(HasSubstr("RANK='" + std::string(rank) + "'")));
  }
}

}  // namespace
}  // namespace mergewise
