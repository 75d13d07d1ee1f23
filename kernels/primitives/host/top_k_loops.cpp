// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set, which MERGEWISE_ISA names. Nothing here may call inline
// code of a shared header, the standard library's included (README.md says why; a test checks it).
#include "kernels/primitives/host/top_k_loops.hpp"

namespace mergewise::MERGEWISE_ISA {
namespace {

// Elements that are looked at together; most blocks have nothing to take.
constexpr std::int64_t kBlock = 128;
constexpr std::int64_t kSmallBlock = 16;

std::int32_t magnitude(float value) { return __builtin_bit_cast(std::int32_t, value) & 0x7fffffff; }

template <std::int64_t Count>
bool any_at_least(const float* values, std::int32_t bound) {
  std::int32_t any = 0;
  for (std::int64_t i = 0; i < Count; ++i) any |= magnitude(values[i]) >= bound ? 1 : 0;
  return any != 0;
}

template <typename Index>
class Collector {
 public:
  explicit Collector(const CollectJob<Index>& job) : job_(job), ties_(job.ties) {}

  Collected run() {
    std::int64_t i = 0;
    for (; i + kBlock <= job_.count; i += kBlock) {
      if (!any_at_least<kBlock>(job_.values + i, lowest())) continue;
      for (std::int64_t j = i; j < i + kBlock; j += kSmallBlock) {
        if (!any_at_least<kSmallBlock>(job_.values + j, lowest())) continue;
        const std::int64_t read = take(j, j + kSmallBlock);
        if (read < j + kSmallBlock) return {taken_, nans_, read};
      }
    }
    const std::int64_t read = take(i, job_.count);
    return {taken_, nans_, read};
  }

 private:
  // What need not be looked at is below this; NaN is above, so that it is counted.
  [[nodiscard]] std::int32_t lowest() const { return job_.threshold + (ties_ == 0 ? 1 : 0); }

  // Takes from [begin, end) without a branch on the data. Returns where it had no room, or end.
  std::int64_t take(std::int64_t begin, std::int64_t end) {
    // Locals, since the output might alias members; sums of 0 and 1, which compilers leave without
    // branches.
    std::int64_t taken = taken_, ties = ties_, nans = nans_;
    std::int64_t i = begin;
    for (; i < end && taken < job_.room; ++i) {
      const float value = job_.values[i];
      const std::int32_t bits = magnitude(value);
      job_.out_values[taken] = value;
      job_.out_indices[taken] =
          job_.indices != nullptr ? job_.indices[i] : static_cast<Index>(job_.first + i);
      const int tie = static_cast<int>(bits == job_.threshold) & static_cast<int>(ties > 0);
      const int nan = static_cast<int>(bits > kInfinityBits);
      const int above = static_cast<int>(bits > job_.threshold) - nan;
      taken += tie + above;
      ties -= tie;
      nans += nan;
    }
    taken_ = taken;
    ties_ = ties;
    nans_ = nans;
    return i;
  }

  const CollectJob<Index> job_;
  std::int64_t ties_;
  std::int64_t taken_ = 0;
  std::int64_t nans_ = 0;
};

template <typename Index>
Collected collect(const CollectJob<Index>& job) {
  return Collector<Index>(job).run();
}

void histogram(const HistogramJob& job) {
  const std::int32_t mask = (1 << job.bits) - 1;
  const auto count_one = [&job, mask](std::int64_t i, std::int64_t* bins) {
    const std::int32_t bits = magnitude(job.values[i]);
    const bool counts = (bits >> job.prefix_shift == job.prefix) & (bits <= kInfinityBits);
    bins[(bits >> job.shift) & mask] += counts ? 1 : 0;
  };
  std::int64_t* const second = job.copies == 2 ? job.bins + mask + 1 : job.bins;
  std::int64_t i = 0;
  for (; i + 2 <= job.count; i += 2) {
    count_one(i, job.bins);
    count_one(i + 1, second);
  }
  if (i < job.count) count_one(i, job.bins);
}

constexpr TopKLoops kLoops{collect<std::int32_t>, collect<std::int64_t>, histogram};

}  // namespace

const TopKLoops& top_k_loops() { return kLoops; }

}  // namespace mergewise::MERGEWISE_ISA
