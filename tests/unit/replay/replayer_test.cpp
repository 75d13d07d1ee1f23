// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/replayer.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/device/allocation_counter.hpp"
#include "tests/unit/replay/fakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Tensors of 1, 2, 0, 3 and 4 elements, so that every reduction of consecutive ones has another
// size.
const std::vector<std::size_t> kElements{1, 2, 0, 3, 4};

struct Rig {
  explicit Rig(Buffers buffers = Buffers::kSlice, int ranks = 3, bool logging = true)
      : compute(logging ? &log : nullptr),
        communicator(ranks, logging ? &log : nullptr, kElements) {
    std::vector<Bytes> bytes;
    for (const std::size_t count : kElements) bytes.push_back(static_cast<Bytes>(count * 4));
    replayer = std::make_unique<Replayer>(*device, communicator, compute, bytes, buffers,
                                          Replayer::GroupHook());
  }
  Log log;
  std::unique_ptr<Device> device = make_host_device();
  LoggingCompute compute;
  PretendedRanks communicator;
  std::unique_ptr<Replayer> replayer;
};

TEST(Replayer, ReducesAGroupAfterItsLastTensorIsReadyAndInPlanOrder) {
  Rig rig;
  auto plan = rig.replayer->prepare(plan_from_ends("test", {2, 4, 5}));
  std::vector<Stamp> stamps;
  rig.replayer->run(plan, 1, stamps);
  const Log& log = rig.log;
  EXPECT_EQ(log.entries().size(), 1 + 5 + 3U);
  EXPECT_EQ(log.position("f0"), 0U);
  EXPECT_GT(log.position("r3", 0), log.position("b1"));  // group {0, 1}: 3 elements
  EXPECT_GT(log.position("r3", 1), log.position("b3"));  // group {2, 3}: 0 + 3 elements
  EXPECT_GT(log.position("r4"), log.position("b4"));
  EXPECT_LT(log.position("r3", 1), log.position("r4"));
}

TEST(Replayer, NextIterationStartsAfterAllGroupsArrived) {
  Rig rig;
  auto plan = rig.replayer->prepare(plan_from_ends("test", {2, 5}));
  std::vector<Stamp> stamps;
  rig.replayer->run(plan, 3, stamps);
  for (int iteration = 1; iteration < 3; ++iteration) {
    EXPECT_GT(rig.log.position("f0", iteration), rig.log.position("r7", iteration - 1));
  }
  ASSERT_EQ(stamps.size(), 4U);
  for (std::size_t i = 1; i < stamps.size(); ++i) EXPECT_GT(stamps[i], stamps[i - 1]);
}

TEST(Replayer, AnEmptyGroupSendsNothing) {
  Rig rig;
  auto plan = rig.replayer->prepare(plan_from_ends("wfbp", {1, 2, 3, 4, 5}));
  std::vector<Stamp> stamps;
  rig.replayer->run(plan, 1, stamps);
  EXPECT_EQ(rig.log.position("r0"), rig.log.entries().size());
  EXPECT_EQ(rig.log.entries().size(), 1 + 5 + 4U);
}

TEST(Replayer, ComputeAloneSendsNothing) {
  Rig rig;
  auto plan = rig.replayer->prepare_compute_alone();
  std::vector<Stamp> stamps;
  rig.replayer->run(plan, 1, stamps);
  EXPECT_EQ(rig.log.entries().size(), 1 + 5U);
}

class ReplayerBuffers : public testing::TestWithParam<Buffers> {};

TEST_P(ReplayerBuffers, EveryMergingGivesTheExactSums) {
  Rig rig(GetParam());
  rig.communicator.gradients = nullptr;  // set below: with copies the merge buffer is what is sent
  const std::vector<std::vector<std::size_t>> plans{{5}, {1, 2, 3, 4, 5}, {2, 5}, {3, 4, 5}};
  for (const auto& ends : plans) {
    auto plan = rig.replayer->prepare(plan_from_ends("test", ends));
    rig.communicator.gradients = rig.replayer->send_buffer();
    EXPECT_NO_THROW(rig.replayer->verify(plan));
  }
}

TEST_P(ReplayerBuffers, ALostElementIsNamed) {
  Rig rig(GetParam());
  rig.communicator.gradients = rig.replayer->send_buffer();
  rig.communicator.loses_last = true;
  auto plan = rig.replayer->prepare(plan_from_ends("broken", {2, 5}));
  try {
    rig.replayer->verify(plan);
    FAIL() << "a wrong sum passed";
  } catch (const VerificationError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'broken'"), HasSubstr("group 0"),
                                    HasSubstr("tensor 1"), HasSubstr("element 1")));
  }
}

INSTANTIATE_TEST_SUITE_P(Both, ReplayerBuffers, testing::Values(Buffers::kSlice, Buffers::kCopy));

TEST(Replayer, RefusesPlansItCannotReplay) {
  Rig rig;
  MergePlan gather = plan_from_ends("gather", {5}, Collective::kAllGather);
  EXPECT_THROW((void)rig.replayer->prepare(gather), UnsupportedError);
  MergePlan late = plan_from_ends("late", {5});
  late.groups[0].release = NotBefore{1000};
  EXPECT_THROW((void)rig.replayer->prepare(late), UnsupportedError);
}

TEST(Replayer, StampsOfTheSpanPassAreInTheOrderOfThePlan) {
  Rig rig;
  auto plan = rig.replayer->prepare(plan_from_ends("test", {2, 4, 5}));
  const auto iterations = rig.replayer->run_with_spans(plan, 2);
  ASSERT_EQ(iterations.size(), 2U);
  for (const IterationStamps& it : iterations) {
    EXPECT_LE(it.begin, it.forward_end);
    Stamp before = it.forward_end;
    for (const GroupStamps& group : it.groups) {
      EXPECT_LE(before, group.backward_end);
      EXPECT_LE(group.backward_end, group.ready);
      EXPECT_LE(group.ready, group.begin);
      EXPECT_LE(group.begin, group.end);
      EXPECT_LE(group.end, group.unpack_begin);
      EXPECT_LE(group.unpack_begin, group.unpack_end);
      EXPECT_LE(group.unpack_end, it.end);
      before = group.backward_end;
    }
  }
}

TEST(Replayer, AllocatesNothingPerIterationAfterTheFirstBlock) {
  for (const Buffers buffers : {Buffers::kSlice, Buffers::kCopy}) {
    Rig rig(buffers, 1, false);
    auto plan = rig.replayer->prepare(plan_from_ends("test", {1, 2, 3, 4, 5}));
    std::vector<Stamp> stamps;
    rig.replayer->run(plan, 8, stamps);
    const auto before = allocation_count();
    rig.replayer->run(plan, 8, stamps);
    EXPECT_EQ(allocation_count() - before, 0);
  }
}

TEST(Replayer, LayerTimesCoverEveryTensor) {
  Rig rig;
  const auto runs = rig.replayer->run_layers(2);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].backward_ns.size(), kElements.size());
}

}  // namespace
}  // namespace mergewise
