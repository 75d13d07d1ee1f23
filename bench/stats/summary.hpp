// SPDX-License-Identifier: Apache-2.0
// Statistics of samples: pure functions over vectors, the same result on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mergewise {

/// Linear interpolation between order statistics (R's type 7). q in [0, 1]. Throws std::logic_error
/// when empty.
[[nodiscard]] double quantile(std::span<const double> samples, double q);
[[nodiscard]] double mean(std::span<const double> samples);

struct Interval {
  double low = 0;
  double high = 0;
  double confidence = 0;  ///< 0.95
};

/// Percentile interval of the median by the moving-block bootstrap: successive samples of one
/// process are correlated, so whole blocks of `block` consecutive samples are drawn. Deterministic
/// for a seed. Fewer than two blocks: [min, max].
[[nodiscard]] Interval bootstrap_median(std::span<const double> samples, std::size_t block,
                                        std::uint64_t seed, double confidence = 0.95,
                                        int resamples = 1000);

/// The same of the ratio of two medians, median(over) / median(under), whose blocks are drawn
/// independently. Fewer than two blocks of either: from the least to the greatest quotient of two
/// samples. Samples are above 0.
[[nodiscard]] Interval bootstrap_median_ratio(std::span<const double> over,
                                              std::span<const double> under, std::size_t block,
                                              std::uint64_t seed, double confidence = 0.95,
                                              int resamples = 1000);

struct Summary {
  std::size_t count = 0;
  double median = 0;
  double mean = 0;
  double minimum = 0;
  double p95 = 0;
  double p99 = 0;
  Interval interval;  ///< of the median
};
[[nodiscard]] Summary summarize(std::span<const double> samples, std::size_t block,
                                std::uint64_t seed);

/// Relative half width of an interval: (high - low) / 2 / middle.
[[nodiscard]] double relative_half_width(const Interval& interval, double middle);

}  // namespace mergewise
