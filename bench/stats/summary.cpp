// SPDX-License-Identifier: Apache-2.0
#include "bench/stats/summary.hpp"

#include "bench/core/error.hpp"
#include "bench/stats/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mergewise {
namespace {

double quantile_of_sorted(std::span<const double> sorted, double q) {
  MERGEWISE_CHECK(!sorted.empty(), "a quantile needs samples");
  MERGEWISE_CHECK(q >= 0 && q <= 1, "a quantile's rank lies in [0, 1]");
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// One resample: whole blocks from uniformly drawn starts, the last one cut to the sample's size.
void draw_blocks(std::span<const double> samples, std::size_t block, SplitMix64& random,
                 std::vector<double>& drawn) {
  drawn.clear();
  while (drawn.size() < samples.size()) {
    const std::size_t start = random.below(samples.size() - block + 1);
    const std::size_t count = std::min(block, samples.size() - drawn.size());
    const auto from = samples.begin() + static_cast<std::ptrdiff_t>(start);
    drawn.insert(drawn.end(), from, from + static_cast<std::ptrdiff_t>(count));
  }
}

double median_of_resample(std::span<const double> samples, std::size_t block, SplitMix64& random,
                          std::vector<double>& drawn) {
  draw_blocks(samples, block, random, drawn);
  std::sort(drawn.begin(), drawn.end());
  return quantile_of_sorted(drawn, 0.5);
}

// The middle `confidence` of what was drawn.
Interval percentile_interval(std::vector<double> drawn, double confidence) {
  std::sort(drawn.begin(), drawn.end());
  return {quantile_of_sorted(drawn, (1 - confidence) / 2),
          quantile_of_sorted(drawn, (1 + confidence) / 2), confidence};
}

}  // namespace

double quantile(std::span<const double> samples, double q) {
  return quantile_of_sorted(sorted_copy(samples), q);
}

double mean(std::span<const double> samples) {
  MERGEWISE_CHECK(!samples.empty(), "a mean needs samples");
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

Interval bootstrap_median(std::span<const double> samples, std::size_t block, std::uint64_t seed,
                          double confidence, int resamples) {
  MERGEWISE_CHECK(!samples.empty(), "an interval needs samples");
  MERGEWISE_CHECK(block >= 1 && resamples >= 1, "a bootstrap draws blocks");
  if (samples.size() < 2 * block) {
    const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
    return {*low, *high, confidence};
  }
  SplitMix64 random(seed);
  std::vector<double> drawn;
  std::vector<double> medians;
  drawn.reserve(samples.size());
  medians.reserve(static_cast<std::size_t>(resamples));
  for (int i = 0; i < resamples; ++i) {
    medians.push_back(median_of_resample(samples, block, random, drawn));
  }
  return percentile_interval(std::move(medians), confidence);
}

Interval bootstrap_median_ratio(std::span<const double> over, std::span<const double> under,
                                std::size_t block, std::uint64_t seed, double confidence,
                                int resamples) {
  MERGEWISE_CHECK(!over.empty() && !under.empty(), "an interval needs samples");
  MERGEWISE_CHECK(block >= 1 && resamples >= 1, "a bootstrap draws blocks");
  if (over.size() < 2 * block || under.size() < 2 * block) {
    const auto [least, most] = std::minmax_element(over.begin(), over.end());
    const auto [shortest, longest] = std::minmax_element(under.begin(), under.end());
    return {*least / *longest, *most / *shortest, confidence};
  }
  SplitMix64 random(seed);
  std::vector<double> drawn;
  std::vector<double> ratios;
  ratios.reserve(static_cast<std::size_t>(resamples));
  for (int i = 0; i < resamples; ++i) {
    const double dividend = median_of_resample(over, block, random, drawn);
    ratios.push_back(dividend / median_of_resample(under, block, random, drawn));
  }
  return percentile_interval(std::move(ratios), confidence);
}

Summary summarize(std::span<const double> samples, std::size_t block, std::uint64_t seed) {
  const std::vector<double> sorted = sorted_copy(samples);
  Summary summary;
  summary.count = samples.size();
  summary.median = quantile_of_sorted(sorted, 0.5);
  summary.mean = mean(samples);
  summary.minimum = sorted.front();
  summary.p95 = quantile_of_sorted(sorted, 0.95);
  summary.p99 = quantile_of_sorted(sorted, 0.99);
  summary.interval = bootstrap_median(samples, block, seed);
  return summary;
}

double relative_half_width(const Interval& interval, double middle) {
  const double half_width = (interval.high - interval.low) / 2;
  if (half_width == 0) return 0;
  return middle > 0 ? half_width / middle : std::numeric_limits<double>::infinity();
}

}  // namespace mergewise
