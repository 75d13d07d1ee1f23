// SPDX-License-Identifier: Apache-2.0
#include "bench/stats/intervals.hpp"

#include "bench/stats/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace mergewise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Union, JoinsWhatOverlapsOrTouches) {
  EXPECT_THAT(union_of({{5, 7}, {0, 2}, {1, 3}, {3, 4}}), ElementsAre(Pair(0, 4), Pair(5, 7)));
  EXPECT_THAT(union_of({{0, 10}, {2, 3}}), ElementsAre(Pair(0, 10)));
}

TEST(Union, DropsEmptyStretches) {
  EXPECT_THAT(union_of({}), IsEmpty());
  EXPECT_THAT(union_of({{1, 1}, {3, 2}}), IsEmpty());
}

TEST(Length, AddsUp) {
  EXPECT_EQ(length({}), 0);
  EXPECT_EQ(length({{0, 4}, {5, 7}}), 6);
}

TEST(Difference, CutsOutWhatTheOtherCovers) {
  EXPECT_THAT(difference({{0, 10}}, {{2, 3}, {5, 6}}),
              ElementsAre(Pair(0, 2), Pair(3, 5), Pair(6, 10)));
  EXPECT_THAT(difference({{0, 4}, {6, 10}}, {{3, 7}}), ElementsAre(Pair(0, 3), Pair(7, 10)));
  EXPECT_THAT(difference({{1, 2}, {3, 4}}, {{0, 9}}), IsEmpty());
  EXPECT_THAT(difference({{1, 2}}, {}), ElementsAre(Pair(1, 2)));
  EXPECT_THAT(difference({{1, 2}}, {{2, 3}, {0, 1}}), ElementsAre(Pair(1, 2)));
  EXPECT_THAT(difference({}, {{0, 1}}), IsEmpty());
}

TEST(LabelTime, GivesEachInstantTheFirstLabelThatCoversIt) {
  const auto labels = label_time(0, 100,
                                 {{"compute", {{0, 40}, {60, 70}}},
                                  {"pack", {{30, 45}}},
                                  {"transfer", {{20, 50}, {90, 120}}}});
  EXPECT_THAT(labels, ElementsAre(Pair("compute", 50), Pair("pack", 5), Pair("transfer", 15),
                                  Pair("idle", 30)));
}

TEST(LabelTime, OfNoTimeIsZero) {
  EXPECT_THAT(label_time(5, 5, {{"compute", {{0, 9}}}}),
              ElementsAre(Pair("compute", 0), Pair("idle", 0)));
}

// Properties over random spans, checked against one instant at a time.
TEST(LabelTime, SumsToTheIterationAndMatchesEachInstant) {
  SplitMix64 random(5);
  constexpr std::size_t kSpan = 64;
  const std::array<std::string, 3> names{"compute", "transfer", "wait"};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<std::string, std::vector<Stretch>>> layers;
    for (const std::string& name : names) {
      std::vector<Stretch> stretches;
      for (std::size_t i = random.below(6); i > 0; --i) {
        const auto from = static_cast<double>(random.below(kSpan + 20)) - 10;
        stretches.emplace_back(from, from + static_cast<double>(random.below(20)));
      }
      layers.emplace_back(name, stretches);
    }
    std::array<double, 4> expected{};
    for (std::size_t instant = 0; instant < kSpan; ++instant) {
      const double middle = static_cast<double>(instant) + 0.5;
      std::size_t label = 0;
      while (label < layers.size() &&
             difference({{middle, middle + 0.1}}, union_of(layers[label].second)).size() == 1)
        ++label;
      expected.at(label) += 1;
    }
    const auto labels = label_time(0, kSpan, layers);
    double sum = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      EXPECT_EQ(labels[i].second, expected.at(i)) << labels[i].first << " in round " << round;
      sum += labels[i].second;
    }
    EXPECT_EQ(sum, kSpan);
  }
}

TEST(LabelTime, SumsToTheIterationUpToRounding) {
  SplitMix64 random(6);
  const auto time = [&] { return static_cast<double>(random.next() >> 11) * 1e-6; };
  for (int round = 0; round < 200; ++round) {
    const double begin = time();
    const double end = begin + time();
    std::vector<std::pair<std::string, std::vector<Stretch>>> layers(4, {"x", {}});
    for (auto& layer : layers) {
      for (int i = 0; i < 20; ++i) {
        const double from = begin + (end - begin) * static_cast<double>(random.below(1000)) / 999.0;
        layer.second.emplace_back(from, from + (end - begin) * 0.07);
      }
    }
    double sum = 0;
    for (const auto& label : label_time(begin, end, layers)) sum += label.second;
    EXPECT_NEAR(sum, end - begin, (end + begin) * 1e-13);
  }
}

}  // namespace
}  // namespace mergewise
