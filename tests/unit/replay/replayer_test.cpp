// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/replayer.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/device/allocation_counter.hpp"
#include "tests/unit/replay/fakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Tensors of 1, 2, 0, 3 and 4 elements, so that every reduction of consecutive ones has another
// size.
const std::vector<std::size_t> kElements{1, 2, 0, 3, 4};

struct Rig {
  explicit Rig(Buffers buffers = Buffers::kSlice, int ranks = 3, bool logging = true,
               std::size_t forward_steps = 1, const Iteration& iteration = {})
      : compute(logging ? &log : nullptr, forward_steps),
        communicator(ranks, logging ? &log : nullptr, kElements) {
    std::vector<Bytes> bytes;
    for (const std::size_t count : kElements) bytes.push_back(static_cast<Bytes>(count * 4));
    replayer = std::make_unique<Replayer>(*device, communicator, compute, bytes, buffers,
                                          Replayer::GroupHook(), iteration);
  }
  Log log;
  std::unique_ptr<Device> device = make_host_device();
  LoggingCompute compute;
  PretendedRanks communicator;
  std::unique_ptr<Replayer> replayer;
};

// Groups of 3 and of 7 elements, the latter gathered first; the other gather is issued with it.
MergePlan scatter_and_gather(bool prefetch_all = false) {
  MergePlan plan = plan_from_ends("scatter", {2, 5}, Collective::kReduceScatter);
  plan.groups.push_back({2, 5, Collective::kAllGather, BeforeForward{}});
  plan.groups.push_back({0, 2, Collective::kAllGather, BeforeForward{2}});
  if (prefetch_all) plan.groups[3].release = BeforeForward{};
  return plan;
}

const StampedSpan& find(const IterationStamps& it, Activity activity, std::size_t index) {
  const auto found = std::find_if(it.spans.begin(), it.spans.end(), [&](const StampedSpan& span) {
    return span.activity == activity && span.index == index;
  });
  if (found == it.spans.end()) throw std::logic_error("no such span");
  return *found;
}

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
  for (const bool prefetch_all : {false, true}) {
    auto plan = rig.replayer->prepare(scatter_and_gather(prefetch_all));
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
  // The last of each shard and of what was gathered.
  auto scattered = rig.replayer->prepare(scatter_and_gather());
  EXPECT_THAT([&] { rig.replayer->verify(scattered); },
              ThrowsMessage<VerificationError>(HasSubstr("'scatter' on rank 0: group 0, tensor")));
}

INSTANTIATE_TEST_SUITE_P(Both, ReplayerBuffers, testing::Values(Buffers::kSlice, Buffers::kCopy));

TEST(Replayer, RefusesPlansItCannotReplay) {
  Rig rig;
  const auto refused = [&](const MergePlan& plan) {
    EXPECT_THAT([&] { (void)rig.replayer->prepare(plan); },
                ThrowsMessage<UnsupportedError>(
                    AllOf(HasSubstr("'" + plan.strategy + "'"), HasSubstr("mergewise simulate"))));
  };
  refused(plan_from_ends("gather", {5}, Collective::kAllGather));
  MergePlan chunks = plan_from_ends("chunks", {2, 5});
  for (Group& group : chunks.groups) group.release = BeforeForward{};
  refused(chunks);
  chunks.chunking = Chunking{8, 8};
  refused(chunks);
  MergePlan apart = scatter_and_gather();
  apart.strategy = "apart";
  apart.groups[2].begin = 3;
  apart.groups[3].end = 3;
  refused(apart);
}

TEST(Replayer, HoldsAGroupUntilItsTimeAfterTheStartOfTheBackwardPass) {
  Rig rig;
  MergePlan late = plan_from_ends("late", {2, 5});
  late.groups[0].release = NotBefore{20e6};
  late.groups[1].release = NotBefore{30e6};
  auto plan = rig.replayer->prepare(late);
  const auto iterations = rig.replayer->run_with_spans(plan, 3);
  for (const IterationStamps& it : iterations) {
    const Stamp backward = find(it, Activity::kForward, 0).end;
    EXPECT_GE(find(it, Activity::kTransfer, 0).begin - backward, 20'000'000);
    EXPECT_GE(find(it, Activity::kTransfer, 1).begin - backward, 30'000'000);
  }
}

TEST(Replayer, EachForwardStepWaitsForTheGroupThatCarriesItsTensors) {
  for (const bool prefetch_all : {false, true}) {
    Rig rig(Buffers::kSlice, 3, true, 4, {1, {3, 2, 2, 1, 0}});
    auto plan = rig.replayer->prepare(scatter_and_gather(prefetch_all));
    std::vector<Stamp> stamps;
    rig.replayer->run(plan, 2, stamps);
    ASSERT_EQ(stamps.size(), 3U);
    const Log& log = rig.log;
    // A forward pass that belongs to no iteration, then two iterations.
    EXPECT_EQ(log.entries().size(), 4 + 2 * (5 + 2 + 2 + 4U));
    for (const int i : {0, 1}) {
      EXPECT_GT(log.position("b0", i), log.position("f3", i));
      EXPECT_GT(log.position("s3", i), log.position("b1", i));
      EXPECT_GT(log.position("s7", i), log.position("b4", i));
      EXPECT_GT(log.position("g7", i), log.position("s7", i));
      EXPECT_GT(log.position("g3", i), log.position("g7", i));
      EXPECT_GT(log.position("f0", i + 1), log.position("g7", i));
      EXPECT_GT(log.position("f2", i + 1), log.position("g3", i));
    }
  }
}

TEST(Replayer, AGatherIsIssuedWhenTheForwardWorkOfTheGroupBeforeBegins) {
  const auto device = make_host_device();
  PretendedRanks communicator(3, nullptr, kElements);
  // A forward step for each group, each far longer than a gather.
  const auto compute = make_timed_compute({5e6, 5e6, 5e6}, {0, 0, 0, 0, 0});
  Replayer replayer(*device, communicator, *compute, {4, 8, 0, 12, 16}, Buffers::kSlice,
                    Replayer::GroupHook(), {1, {2, 2, 1, 1, 0}});
  MergePlan plan = plan_from_ends("three", {2, 4, 5}, Collective::kReduceScatter);
  plan.groups.push_back({4, 5, Collective::kAllGather, BeforeForward{}});
  plan.groups.push_back({2, 4, Collective::kAllGather, BeforeForward{3}});
  plan.groups.push_back({0, 2, Collective::kAllGather, BeforeForward{4}});
  auto prepared = replayer.prepare(plan);
  for (const IterationStamps& it : replayer.run_with_spans(prepared, 3)) {
    for (const std::size_t group : {3, 4, 5}) {
      EXPECT_GE(find(it, Activity::kForward, group).begin,
                find(it, Activity::kTransfer, group).end);
    }
    // Not while the first group is worked on.
    EXPECT_GE(find(it, Activity::kTransfer, 5).begin, find(it, Activity::kForward, 3).end);
  }
}

TEST(Replayer, AForwardStepThatWaitsForNothingHasNoGroup) {
  // No tensor is used by step 0.
  Rig rig(Buffers::kSlice, 3, true, 4, {1, {3, 2, 2, 1, 1}});
  auto plan = rig.replayer->prepare(scatter_and_gather());
  for (const IterationStamps& it : rig.replayer->run_with_spans(plan, 2)) {
    const auto first = std::find_if(it.spans.begin(), it.spans.end(), [](const StampedSpan& span) {
      return span.activity == Activity::kForward;
    });
    ASSERT_NE(first, it.spans.end());
    EXPECT_EQ(first->index, 0U);
  }
}

TEST(Replayer, MicroBatchesBeforeTheLastCommunicateNothing) {
  Rig rig(Buffers::kSlice, 3, true, 4, {3, {3, 2, 2, 1, 0}});
  std::vector<Stamp> stamps;
  auto reduced = rig.replayer->prepare(plan_from_ends("test", {2, 5}));
  rig.replayer->run(reduced, 2, stamps);
  EXPECT_EQ(rig.log.entries().size(), 2 * (3 * (4 + 5) + 2U));
  EXPECT_GT(rig.log.position("r3"), rig.log.position("b0", 2));
  Rig other(Buffers::kSlice, 3, true, 4, {3, {3, 2, 2, 1, 0}});
  auto scattered = other.replayer->prepare(scatter_and_gather());
  other.replayer->run(scattered, 2, stamps);
  EXPECT_EQ(other.log.entries().size(), 4 + 2 * (3 * (4 + 5) + 4U));
  EXPECT_GT(other.log.position("s3"), other.log.position("b0", 2));
  EXPECT_GT(other.log.position("f0", 3), other.log.position("g7"));
}

TEST(Replayer, SpansOfAnIterationAreInOrderAndFillTheComputeLane) {
  for (const Buffers buffers : {Buffers::kSlice, Buffers::kCopy}) {
    Rig rig(buffers, 3, true, 4, {2, {3, 2, 2, 1, 0}});
    for (const MergePlan& planned :
         {plan_from_ends("test", {2, 4, 5}), scatter_and_gather(), scatter_and_gather(true)}) {
      auto plan = rig.replayer->prepare(planned);
      for (const IterationStamps& it : rig.replayer->run_with_spans(plan, 2)) {
        Stamp before[2] = {it.begin, it.begin};
        for (const StampedSpan& span : it.spans) {
          Stamp& lane = before[static_cast<std::size_t>(span.lane)];
          EXPECT_LE(lane, span.begin);
          EXPECT_LE(span.begin, span.end);
          EXPECT_LE(span.end, it.end);
          lane = span.end;
        }
        const auto count = [&](Activity activity) {
          return std::count_if(it.spans.begin(), it.spans.end(),
                               [&](const StampedSpan& span) { return span.activity == activity; });
        };
        const std::ptrdiff_t copies = buffers == Buffers::kCopy ? 1 : 0;
        const auto groups = static_cast<std::ptrdiff_t>(planned.groups.size());
        EXPECT_EQ(count(Activity::kTransfer), groups);
        EXPECT_EQ(count(Activity::kPack), copies * (groups == 4 ? 2 : 3));
        EXPECT_EQ(count(Activity::kUnpack), copies * (groups == 4 ? 2 : 3));
      }
    }
  }
}

TEST(Replayer, AllocatesNothingPerIterationAfterTheFirstBlock) {
  for (const Buffers buffers : {Buffers::kSlice, Buffers::kCopy}) {
    Rig rig(buffers, 1, false);
    for (const MergePlan& planned :
         {plan_from_ends("test", {1, 2, 3, 4, 5}), scatter_and_gather()}) {
      auto plan = rig.replayer->prepare(planned);
      std::vector<Stamp> stamps;
      rig.replayer->run(plan, 8, stamps);
      const auto before = allocation_count();
      rig.replayer->run(plan, 8, stamps);
      EXPECT_EQ(allocation_count() - before, 0);
    }
  }
}

TEST(Replayer, BothStreamsAreIdleWhenACollectiveFailed) {
  // Long after the last gather was given up, the forward pass that waited for it goes on.
  class SlowForward : public LoggingCompute {
   public:
    using LoggingCompute::LoggingCompute;
    void forward(Stream& stream, std::size_t begin, std::size_t end) override {
      as_host(stream).enqueue([] { sleep_until(now() + 20'000'000); });
      LoggingCompute::forward(stream, begin, end);
    }
  };
  class Failing : public PretendedRanks {
   public:
    Failing() : PretendedRanks(3, nullptr, kElements) {}
    using PretendedRanks::all_gather;
    void all_gather(float*, std::size_t, Stream& stream) override {
      as_host(stream).enqueue([] { throw std::runtime_error("rank 1 is gone"); });
    }
  };
  const auto device = make_host_device();
  Log log;
  SlowForward compute(&log);
  Failing communicator;
  Replayer replayer(*device, communicator, compute, {4, 8, 0, 12, 16}, Buffers::kSlice, {});
  auto plan = replayer.prepare(scatter_and_gather());
  EXPECT_THAT([&] { (void)replayer.run_with_spans(plan, 2); },
              ThrowsMessage<BackendError>(HasSubstr("rank 1 is gone")));
  EXPECT_EQ(log.position("f0", 2) + 1, log.entries().size()) << "three forward passes, all ended";
}

TEST(Replayer, LayerTimesCoverEveryTensorAndForwardStep) {
  Rig rig(Buffers::kSlice, 3, true, 3);
  const auto runs = rig.replayer->run_layers(2);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].backward_ns.size(), kElements.size());
  ASSERT_EQ(runs[0].forward_steps_ns.size(), 3U);
  EXPECT_DOUBLE_EQ(
      std::accumulate(runs[0].forward_steps_ns.begin(), runs[0].forward_steps_ns.end(), 0.0),
      runs[0].forward_ns);
}

}  // namespace
}  // namespace mergewise
