// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/spans.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace mergewise {
namespace {

double label(const Breakdown& breakdown, const std::string& name) {
  for (const auto& [key, time] : breakdown.labels_ns) {
    if (key == name) return time;
  }
  ADD_FAILURE() << "no label " << name;
  return 0;
}

// forward 0..100, backward of group 0 until 160, of group 1 until 200; group 0 sends 160..260,
// group 1 260..300.
IterationStamps iteration(Stamp begin) {
  IterationStamps it{begin, begin + 310, {}};
  const auto add = [&](Activity activity, std::size_t index, Stamp from, Stamp to) {
    const Lane lane = activity == Activity::kTransfer ? Lane::kCommunication : Lane::kCompute;
    it.spans.push_back({lane, activity, index, begin + from, begin + to});
  };
  add(Activity::kForward, 0, 0, 100);
  add(Activity::kBackward, 0, 100, 160);
  add(Activity::kBackward, 1, 160, 200);
  add(Activity::kTransfer, 0, 160, 260);
  add(Activity::kTransfer, 1, 260, 300);
  return it;
}

RankStamps rank(int index, Stamp begin, double clock_ahead = 0) {
  const auto shift = static_cast<Stamp>(clock_ahead);
  return {index,
          {begin + shift, clock_ahead, 3},
          {begin + 1000 + shift, clock_ahead, 5},
          {iteration(begin + shift)}};
}

TEST(Spans, LabelsSumToTheIteration) {
  const SpanSummary summary = summarize_spans({rank(0, 1000), rank(1, 1020)});
  const Breakdown& breakdown = summary.breakdown;
  double sum = 0;
  for (const auto& [name, time] : breakdown.labels_ns) sum += time;
  EXPECT_DOUBLE_EQ(sum, 310);
  EXPECT_DOUBLE_EQ(breakdown.iteration_ns, 310);
}

TEST(Spans, ComputeHidesCommunication) {
  const Breakdown breakdown = summarize_spans({rank(0, 1000)}).breakdown;
  EXPECT_DOUBLE_EQ(label(breakdown, "compute"), 200);
  EXPECT_DOUBLE_EQ(label(breakdown, "transfer"), 100);
  EXPECT_DOUBLE_EQ(label(breakdown, "idle"), 10);
  EXPECT_DOUBLE_EQ(breakdown.busy_ns, 140);
  EXPECT_DOUBLE_EQ(breakdown.exposed_ns, 100);
  EXPECT_DOUBLE_EQ(breakdown.hidden_ns, 40);
}

TEST(Spans, ACollectiveWaitsUntilItsLastRankArrived) {
  // Rank 1 is 20 later, so rank 0 waits 20 in each group; 160..180 of that behind its backward
  // work.
  const SpanSummary summary = summarize_spans({rank(0, 1000), rank(1, 1020)});
  double waited = 0;
  for (const MeasuredSpan& span : summary.spans) {
    if (span.activity != "wait") continue;
    EXPECT_EQ(span.rank, 0);
    waited += span.end - span.begin;
  }
  EXPECT_DOUBLE_EQ(waited, 40);
  EXPECT_DOUBLE_EQ(label(summary.breakdown, "wait"), 10);  // 20 exposed on one of two ranks
}

TEST(Spans, AClockAheadIsNotALateArrival) {
  const SpanSummary summary = summarize_spans({rank(0, 1000), rank(1, 1000, 5e9)});
  EXPECT_DOUBLE_EQ(label(summary.breakdown, "wait"), 0);
  EXPECT_DOUBLE_EQ(summary.breakdown.clock_error_ns, 5);
}

TEST(Spans, DriftIsALineBetweenTheTwoSamples) {
  RankStamps drifting = rank(1, 1000);
  drifting.before = {1000, 0, 1};
  drifting.after = {2000, 100, 1};  // 100 ahead after 1000: at 1000 it is not ahead at all
  EXPECT_DOUBLE_EQ(label(summarize_spans({rank(0, 1000), drifting}).breakdown, "wait"), 0);
}

TEST(Spans, TheFirstIterationOfABlockIsLeftOut) {
  RankStamps stamps = rank(0, 1000);
  stamps.iterations[0].end += 5000;  // it began with a barrier
  stamps.iterations.push_back(iteration(9000));
  EXPECT_DOUBLE_EQ(summarize_spans({stamps}).breakdown.iteration_ns, 310);
}

TEST(Spans, PackingAndUnpackingAreOneLabel) {
  RankStamps stamps = rank(0, 1000);
  std::vector<StampedSpan>& spans = stamps.iterations[0].spans;
  spans[2].begin += 7;
  spans.push_back({Lane::kCompute, Activity::kPack, 0, spans[1].end, spans[2].begin});
  spans.push_back({Lane::kCompute, Activity::kUnpack, 0, spans[4].end, spans[4].end + 3});
  const Breakdown breakdown = summarize_spans({stamps}).breakdown;
  EXPECT_DOUBLE_EQ(label(breakdown, "pack"), 10);
  EXPECT_DOUBLE_EQ(label(breakdown, "compute"), 193);
}

TEST(Spans, SurviveTheirEncoding) {
  const RankStamps original = rank(3, 123456789012345, 4711);
  const RankStamps copy = decode(encode(original));
  EXPECT_EQ(copy.rank, 3);
  EXPECT_EQ(copy.before.at, original.before.at);
  EXPECT_EQ(copy.after.offset_ns, original.after.offset_ns);
  ASSERT_EQ(copy.iterations.size(), 1U);
  EXPECT_EQ(copy.iterations[0].end, original.iterations[0].end);
  ASSERT_EQ(copy.iterations[0].spans.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    const StampedSpan& expected = original.iterations[0].spans[i];
    const StampedSpan& found = copy.iterations[0].spans[i];
    EXPECT_EQ(found.lane, expected.lane);
    EXPECT_EQ(found.activity, expected.activity);
    EXPECT_EQ(found.index, expected.index);
    EXPECT_EQ(found.begin, expected.begin);
    EXPECT_EQ(found.end, expected.end);
  }
}

}  // namespace
}  // namespace mergewise
