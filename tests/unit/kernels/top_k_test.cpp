// SPDX-License-Identifier: Apache-2.0
// Exact top-k on every instruction set of this machine and for teams of 1 to 3, against sorting.
#include "kernels/primitives/host/top_k.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/device/allocation_counter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <typename Index>
struct Selection {
  TopKCounts counts;
  std::vector<Index> indices;
  std::vector<std::uint32_t> bits;  // of the values: tells -0 from 0
};

template <typename Index>
Selection<Index> by_sorting(std::span<const float> values, std::int64_t k) {
  Selection<Index> expected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) expected.indices.push_back(static_cast<Index>(i));
  }
  expected.counts.nans = std::ssize(values) - std::ssize(expected.indices);
  const auto at = [values](Index i) { return values[static_cast<std::size_t>(i)]; };
  std::stable_sort(expected.indices.begin(), expected.indices.end(),
                   [at](Index a, Index b) { return std::fabs(at(a)) > std::fabs(at(b)); });
  expected.counts.selected = std::min(k, std::int64_t{std::ssize(expected.indices)});
  expected.indices.resize(static_cast<std::size_t>(expected.counts.selected));
  std::sort(expected.indices.begin(), expected.indices.end());
  for (const Index i : expected.indices) {
    expected.bits.push_back(std::bit_cast<std::uint32_t>(at(i)));
  }
  return expected;
}

template <typename Index>
Selection<Index> select(std::span<const float> values, std::int64_t k, HostRun how = {}) {
  // Exactly as large as may be written.
  const auto room = static_cast<std::size_t>(std::min(k, std::int64_t{std::ssize(values)}));
  const auto indices = std::make_unique<Index[]>(room);
  const auto selected = std::make_unique<float[]>(room);
  TopKScratch<Index> scratch;
  Selection<Index> got;
  got.counts = top_k<Index>(values, k, {indices.get(), room}, {selected.get(), room}, scratch, how);
  const auto count = static_cast<std::size_t>(got.counts.selected);
  got.indices.assign(indices.get(), indices.get() + count);
  for (std::size_t i = 0; i < count; ++i) {
    got.bits.push_back(std::bit_cast<std::uint32_t>(selected[i]));
  }
  return got;
}

template <typename Index>
void expect_same(const Selection<Index>& got, const Selection<Index>& expected) {
  EXPECT_EQ(got.counts.selected, expected.counts.selected);
  EXPECT_EQ(got.counts.nans, expected.counts.nans);
  // Not EXPECT_EQ: it would print millions of elements.
  EXPECT_TRUE(got.indices == expected.indices);
  EXPECT_TRUE(got.bits == expected.bits);
}

using Make = float (*)(std::size_t i, std::mt19937& random);

float normal(std::size_t, std::mt19937& random) {
  return std::normal_distribution<float>()(random);
}
float ties(std::size_t, std::mt19937& random) {
  return static_cast<float>(static_cast<int>(random() % 7) - 3);
}
float equal(std::size_t i, std::mt19937&) { return i % 2 == 0 ? 1.5F : -1.5F; }
float zeros(std::size_t i, std::mt19937&) { return i % 3 == 0 ? -0.0F : 0.0F; }
float denormals(std::size_t, std::mt19937& random) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(random() & 0x80000fffU));
}
float with_specials(std::size_t, std::mt19937& random) {
  const auto kind = random() % 8;
  if (kind < 2) return kind == 0 ? kNan : -kNan;
  if (kind < 4) return kind == 2 ? kInfinity : -kInfinity;
  return normal(0, random);
}
float nans(std::size_t i, std::mt19937&) { return i % 5 == 3 ? -2.0F : kNan; }
// All in one bucket of a histogram's upper digits.
float close_together(std::size_t, std::mt19937& random) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(0x3f800000U + random() % 512));
}
float any_bits(std::size_t, std::mt19937& random) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
}
// Few elements have a magnitude, like the gradient of an embedding.
float mostly_zero(std::size_t, std::mt19937& random) {
  return random() % 2000 == 0 ? normal(0, random) : 0.0F;
}
// Tensors one after the other that differ a hundredfold in scale.
float scales(std::size_t i, std::mt19937& random) {
  return (i / 40000) % 2 == 0 ? normal(0, random) : 100 * normal(0, random);
}

struct Distribution {
  const char* name;
  Make make;
};

constexpr Distribution kDistributions[] = {
    {"Normal", normal},       {"Ties", ties},
    {"Equal", equal},         {"Zeros", zeros},
    {"Denormals", denormals}, {"WithSpecials", with_specials},
    {"Nans", nans},           {"CloseTogether", close_together},
    {"AnyBits", any_bits},    {"MostlyZero", mostly_zero},
    {"Scales", scales},
};

std::vector<float> made(Make make, std::size_t n) {
  std::mt19937 random(static_cast<std::uint32_t>(n) + 1);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = make(i, random);
  return values;
}

class TopKOf : public testing::TestWithParam<Distribution> {
 protected:
  [[nodiscard]] static std::vector<float> values(std::size_t n) { return made(GetParam().make, n); }

  // On every instruction set that this machine has, for every team.
  template <typename Index>
  void expect_sorted(std::span<const float> input, std::int64_t k) {
    const Selection<Index> expected = by_sorting<Index>(input, k);
    for (const Isa isa : available_isas()) {
      for (Team* team : {&one_, &two_, &three_}) {
        SCOPED_TRACE(testing::Message() << "n = " << input.size() << ", k = " << k << ", "
                                        << isa_name(isa) << ", threads: " << team->size());
        expect_same(select<Index>(input, k, {isa, team}), expected);
      }
    }
  }

 private:
  Team one_{1};
  Team two_{2};
  Team three_{3};
};

INSTANTIATE_TEST_SUITE_P(Host, TopKOf, testing::ValuesIn(kDistributions),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(TopKOf, FewIsWhatSortingGives) {
  for (std::size_t n = 0; n <= 70; ++n) {
    const std::vector<float> input = values(n);
    for (const std::int64_t k : {0, 1, 2, 7, 31, 64, 70, 1000})
      expect_sorted<std::int32_t>(input, k);
  }
}

// Sizes and k on both sides of where the way of searching changes, the last large enough for
// threads and for large histograms.
TEST_P(TopKOf, ManyIsWhatSortingGives) {
  for (const std::size_t n : {1023, 16384, 16401, 70001, 300007}) {
    const std::vector<float> input = values(n);
    const auto all = static_cast<std::int64_t>(n);
    for (const std::int64_t k : {std::int64_t{0}, all / 1000, all / 8, all / 8 + 1, all - 1}) {
      expect_sorted<std::int32_t>(input, k);
    }
  }
}

TEST_P(TopKOf, AnythingIsTheSameWithWideIndices) {
  for (const std::size_t n : {0, 1, 129, 70001}) {
    const std::vector<float> input = values(n);
    expect_sorted<std::int64_t>(input, std::ssize(input) / 100 + 1);
    expect_sorted<std::int64_t>(input, std::ssize(input) / 2);
  }
}

TEST(TopK, TakesTheLowerIndexOfEqualMagnitudes) {
  const std::vector<float> values{1, -2, 2, 3, -2, 0};
  const auto got = select<std::int32_t>(values, 3);
  EXPECT_THAT(got.indices, ElementsAre(1, 2, 3));
}

TEST(TopK, TakesInfinityFirstAndNeverNan) {
  const std::vector<float> values{kNan, 1, -kInfinity, 3e38F, -kNan, kInfinity};
  EXPECT_THAT(select<std::int32_t>(values, 2).indices, ElementsAre(2, 5));
  const auto all = select<std::int32_t>(values, 6);
  EXPECT_THAT(all.indices, ElementsAre(1, 2, 3, 5));
  EXPECT_EQ(all.counts.nans, 2);
}

// What the sample sees is above all the rest, and then below it: the bound is too high, and too
// low.
TEST(TopK, IsRightWhereTheSampleIsWrong) {
  constexpr std::int64_t kN = 300000;
  constexpr std::int64_t kK = 30000;
  const std::vector<std::int64_t> sample = top_k_sample(kN, kK);
  ASSERT_FALSE(sample.empty());
  for (const float sampled : {1000.0F, 1.0F}) {
    std::vector<float> values(kN);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 10 + static_cast<float>(i % 997) / 997;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      values.at(static_cast<std::size_t>(sample[i])) = sampled + static_cast<float>(i) / 100000;
    }
    Team team(2);
    expect_same(select<std::int32_t>(values, kK), by_sorting<std::int32_t>(values, kK));
    expect_same(select<std::int32_t>(values, kK, {best_isa(), &team}),
                by_sorting<std::int32_t>(values, kK));
  }
}

TEST(TopK, SamplesPlacesInsideTheInput) {
  for (const std::int64_t n : {16385L, 1000003L, 123456789L}) {
    const std::vector<std::int64_t> places = top_k_sample(n, 1);
    ASSERT_FALSE(places.empty());
    EXPECT_TRUE(std::adjacent_find(places.begin(), places.end(), std::greater_equal<>()) ==
                places.end());
    EXPECT_GE(places.front(), 0);
    EXPECT_LT(places.back(), n);
  }
}

TEST(TopK, AllocatesNothingOnceWarm) {
  const std::vector<float> values = made(normal, 300000);
  std::vector<std::int32_t> indices(values.size());
  std::vector<float> selected(values.size());
  TopKScratch<std::int32_t> scratch;
  Team team(2);
  for (const std::int64_t k : {300L, 100000L}) {
    top_k<std::int32_t>(values, k, indices, selected, scratch, {best_isa(), &team});
    const std::int64_t before = allocation_count();
    top_k<std::int32_t>(values, k, indices, selected, scratch, {best_isa(), &team});
    EXPECT_EQ(allocation_count(), before) << "k = " << k;
  }
}

TEST(TopK, RefusesWhatItCannotDo) {
  const std::vector<float> values(5);
  std::vector<std::int32_t> indices(4);
  std::vector<float> selected(5);
  TopKScratch<std::int32_t> scratch;
  EXPECT_THROW(top_k<std::int32_t>(values, -1, indices, selected, scratch), InputError);
  EXPECT_THROW(top_k<std::int32_t>(values, 5, indices, selected, scratch), InputError);
  EXPECT_EQ(top_k<std::int32_t>(values, 4, indices, selected, scratch).selected, 4);
}

TEST(TopK, RefusesIndicesOf32BitsBeyondTheirRange) {
  EXPECT_TRUE(fits_int32_index((std::int64_t{1} << 31) - 1));
  EXPECT_FALSE(fits_int32_index(std::int64_t{1} << 31));
  // Refused by its size alone, before anything is read.
  const float one = 1;
  const std::span<const float> values(&one, std::size_t{1} << 31);
  TopKScratch<std::int32_t> scratch;
  EXPECT_THROW(top_k<std::int32_t>(values, 0, {}, {}, scratch), InputError);
}

TEST(TopK, SizesDoNotOverflowWithBillionsOfElements) {
  constexpr std::int64_t kN = (std::int64_t{1} << 40) + 5;
  std::int64_t next = 0;
  for (int part = 0; part < 7; ++part) {
    const Slice slice = slice_of(kN, 7, part);
    EXPECT_EQ(slice.begin, next);
    EXPECT_LE(std::abs(slice.count - kN / 7), 1);
    next += slice.count;
  }
  EXPECT_EQ(next, kN);
  const std::vector<std::int64_t> places = top_k_sample(kN, 1);
  EXPECT_GT(places.back(), kN - kN / 1000);
  EXPECT_LT(places.back(), kN);
  EXPECT_GT(TopKScratch<std::int64_t>::bytes(kN, kN / 8, 1), kN / 8 * 24);
  EXPECT_LE(TopKScratch<std::int32_t>::bytes(1 << 30, 1 << 27, 1), (5LL << 29) + (1 << 20));
}

TEST(Team, RunsEveryPartOnceAndWaits) {
  Team team(3);
  EXPECT_EQ(team.size(), 3);
  for (int round = 0; round < 100; ++round) {
    std::array<int, 3> calls{};
    auto body = [&calls](int part) { ++calls[static_cast<std::size_t>(part)]; };
    team.run(body);
    EXPECT_THAT(calls, ElementsAre(1, 1, 1));
  }
  EXPECT_THROW(Team(0), InputError);
}

}  // namespace
}  // namespace mergewise
