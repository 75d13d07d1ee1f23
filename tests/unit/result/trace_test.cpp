// SPDX-License-Identifier: Apache-2.0
#include "bench/result/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace mergewise {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::Pair;

TraceCase two_ranks() {
  TraceCase one;
  one.title = std::string("tiny ddp, 2 ranks");
  one.spans = {{0, Lane::kCompute, "forward", 0, 0, 1500},
               {1, Lane::kCommunication, "transfer", 3, 2000, 2500},
               {0, Lane::kCommunication, "wait", 3, 1000, 2000}};
  one.predicted.spans = {{Lane::kCompute, Activity::kBackward, 1, 1500, 1600}};
  return one;
}

std::map<int, std::string> process_names(const json& trace) {
  std::map<int, std::string> names;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") names[event["pid"]] = event["args"]["name"];
  }
  return names;
}

TEST(ChromeTrace, HasAProcessPerCaseAndRankAndOneForThePrediction) {
  EXPECT_THAT(
      process_names(to_chrome_trace({two_ranks(), two_ranks()})),
      ElementsAre(Pair(1, "tiny ddp, 2 ranks, rank 0"), Pair(2, "tiny ddp, 2 ranks, rank 1"),
                  Pair(3, "tiny ddp, 2 ranks, predicted"), Pair(4, "tiny ddp, 2 ranks, rank 0"),
                  Pair(5, "tiny ddp, 2 ranks, rank 1"), Pair(6, "tiny ddp, 2 ranks, predicted")));
}

TEST(ChromeTrace, HasAThreadPerLane) {
  const json trace = to_chrome_trace({two_ranks()});
  std::map<int, std::string> lanes;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name" && event["pid"] == 1) {
      lanes[event["tid"]] = event["args"]["name"];
    }
  }
  EXPECT_THAT(lanes, ElementsAre(Pair(1, "compute"), Pair(2, "communication")));
}

TEST(ChromeTrace, GivesSpansInMicroseconds) {
  std::vector<json> spans;
  const json trace = to_chrome_trace({two_ranks()});
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") spans.push_back(event);
  }
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0], (json{{"ph", "X"},
                            {"pid", 1},
                            {"tid", 1},
                            {"name", "forward"},
                            {"cat", "forward"},
                            {"ts", 0.0},
                            {"dur", 1.5}}));
  EXPECT_EQ(spans[2], (json{{"ph", "X"},
                            {"pid", 2},
                            {"tid", 2},
                            {"name", "transfer 3"},
                            {"cat", "transfer"},
                            {"ts", 2.0},
                            {"dur", 0.5},
                            {"args", {{"group", 3}}}}));
  EXPECT_EQ(spans[3]["name"], "backward 1");
}

TEST(ChromeTrace, OfNothingIsAnEmptyTrace) {
  EXPECT_EQ(to_chrome_trace({})["traceEvents"], json::array());
  EXPECT_EQ(to_chrome_trace({TraceCase{}})["traceEvents"], json::array());
}

}  // namespace
}  // namespace mergewise
