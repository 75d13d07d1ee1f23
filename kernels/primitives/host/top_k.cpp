// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/host/top_k.hpp"

#include "bench/core/error.hpp"
#include "kernels/primitives/host/top_k_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

namespace mergewise {
namespace {

// Fewer elements than this are searched as they are.
constexpr std::int64_t kSmall = 1 << 14;
// So many elements are still in a cache at the second look, so that small histograms, which are
// cheaper to clear, win over one look less.
constexpr std::int64_t kCached = 1 << 18;
// Waking a thread costs as much as looking at about so many elements.
constexpr std::int64_t kWorthThreads = 1 << 16;
constexpr std::int64_t kMaxSample = 1 << 15;

// Where a digit of the magnitude's 31 bits begins and how many it has.
struct Digit {
  int shift;
  int bits;
  int copies;
};
constexpr std::array<Digit, 3> kCachedDigits{{{20, 11, 2}, {10, 10, 2}, {0, 10, 2}}};
constexpr std::array<Digit, 2> kDigits{{{15, 16, 1}, {0, 15, 2}}};
constexpr std::int64_t kCachedBins = 2 << 11;
constexpr std::int64_t kBins = 1 << 16;

// Elements, not bytes; the latter two for each part.
struct Sizes {
  std::int64_t sample = 0;
  std::int64_t bins = 0;
  std::int64_t candidates = 0;
};

Sizes sizes_for(std::int64_t n, std::int64_t k, int parts) {
  Sizes sizes;
  sizes.bins = n > kCached ? kBins : kCachedBins;
  if (n > kSmall && k <= n / 8) {
    sizes.sample = std::min(kMaxSample, n / 16);
    // All candidates may lie in one part: tensors differ in scale.
    sizes.candidates =
        std::min(slice_of(n, parts, 0).count, 2 * k + std::max<std::int64_t>(kSmall, n / 1024));
  }
  return sizes;
}

const TopKLoops& loops_for([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) return avx512::top_k_loops();
  if (isa == Isa::kAvx2) return avx2::top_k_loops();
#endif
  return baseline::top_k_loops();
}

// The i-th place of a sample that takes one of every `stride` elements, scattered by a fixed
// function that does not repeat with the data.
std::size_t sample_place(std::uint64_t i, std::uint64_t stride) {
  const std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15U;
  const std::uint64_t random32 = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9U >> 32;
  return i * stride + (random32 * stride >> 32);
}

template <typename Container>
void grow(Container& container, std::int64_t size) {
  if (const auto wanted = static_cast<std::size_t>(size); container.size() < wanted) {
    container.resize(wanted);
  }
}

}  // namespace

Slice slice_of(std::int64_t n, int parts, int part) {
  const std::int64_t whole = n / parts;
  const std::int64_t rest = n % parts;
  return {whole * part + std::min<std::int64_t>(part, rest), whole + (part < rest ? 1 : 0)};
}

std::vector<std::int64_t> top_k_sample(std::int64_t n, std::int64_t k) {
  const std::int64_t size = sizes_for(n, k, 1).sample;
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < size; ++i) {
    places.push_back(static_cast<std::int64_t>(
        sample_place(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(n / size))));
  }
  return places;
}

template <typename Index>
void TopKScratch<Index>::reserve(std::int64_t n, std::int64_t k, int parts) {
  const Sizes sizes = sizes_for(n, k, parts);
  grow(parts_, parts);
  grow(sample_, sizes.sample);
  grow(bins_, parts * sizes.bins);
  grow(candidate_values_, parts * sizes.candidates);
  grow(candidate_indices_, parts * sizes.candidates);
}

template <typename Index>
std::int64_t TopKScratch<Index>::bytes(std::int64_t n, std::int64_t k, int parts) {
  const Sizes sizes = sizes_for(n, k, parts);
  const auto size = [](std::size_t bytes) { return static_cast<std::int64_t>(bytes); };
  return sizes.sample * size(sizeof(std::int32_t)) +
         parts * (size(sizeof(Part)) + sizes.bins * size(sizeof(std::int64_t)) +
                  sizes.candidates * size(sizeof(float) + sizeof(Index)));
}

/// One call of top_k().
template <typename Index>
class TopKSelection {
  using Part = typename TopKScratch<Index>::Part;

 public:
  TopKSelection(std::span<const float> values, std::int64_t k, TopKScratch<Index>& scratch,
                HostRun how)
      : values_(values),
        n_(std::ssize(values)),
        k_(k),
        count_(how.team != nullptr ? how.team->size() : 1),
        sizes_(sizes_for(n_, k, count_)),
        scratch_(scratch),
        parts_(scratch.parts_.data(), static_cast<std::size_t>(count_)),
        loops_(loops_for(how.isa)),
        team_(how.team) {}

  TopKCounts run(Index* indices, float* selected) {
    const std::optional<std::int32_t> bound = sampled_bound();
    const bool among_candidates = bound && collect_candidates(*bound);
    if (!among_candidates) take_input();
    find_threshold();
    emit(indices, selected);
    return {k_, among_candidates ? nans_ : n_ - numbers_};
  }

 private:
  // Calls body(part) for every part, at the same time if the work is worth it.
  template <typename Body>
  void for_each_part(Body body) {
    if (team_ != nullptr && work_ >= kWorthThreads) {
      team_->run(body);
    } else {
      for (int part = 0; part < count_; ++part) body(part);
    }
  }

  void take_input() {
    for (int i = 0; i < count_; ++i) {
      const Slice slice = slice_of(n_, count_, i);
      parts_[static_cast<std::size_t>(i)] = {
          values_.data() + slice.begin, nullptr, slice.begin, slice.count, 0, 0, 0, 0, true};
    }
    work_ = n_;
  }

  // A magnitude that more than k elements reach with near certainty, but not many more; none where
  // the sample finds no such.
  std::optional<std::int32_t> sampled_bound() {
    if (sizes_.sample == 0) return std::nullopt;
    const std::span<std::int32_t> sample =
        std::span(scratch_.sample_).first(static_cast<std::size_t>(sizes_.sample));
    const auto stride = static_cast<std::uint64_t>(n_ / sizes_.sample);
    std::size_t found = 0;
    for (std::uint64_t i = 0; i < sample.size(); ++i) {
      const float value = values_[sample_place(i, stride)];
      const std::int32_t bits = std::bit_cast<std::int32_t>(value) & 0x7fffffff;
      sample[found] = bits;
      found += bits <= kInfinityBits ? 1 : 0;
    }
    const double scale = static_cast<double>(n_) / static_cast<double>(sizes_.sample);
    const double expected = static_cast<double>(k_) / scale;
    // Four standard deviations above what is expected of the k largest.
    const auto rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 8);
    if (rank > found) return std::nullopt;
    const auto nth = sample.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    const auto end = sample.begin() + static_cast<std::ptrdiff_t>(found);
    std::nth_element(sample.begin(), nth, end, std::greater<>());
    const auto reaching =
        std::count_if(nth, end, [bound = *nth](std::int32_t bits) { return bits == bound; });
    const double predicted =
        scale * (static_cast<double>(rank - 1) + static_cast<double>(reaching));
    if (predicted > static_cast<double>(sizes_.candidates) * count_) return std::nullopt;
    return *nth;
  }

  // Fills the parts with what reaches the bound. False if that is too little or too much.
  bool collect_candidates(std::int32_t bound) {
    take_input();
    for_each_part([this, bound](int i) {
      Part& part = parts_[static_cast<std::size_t>(i)];
      float* const values = scratch_.candidate_values_.data() + i * sizes_.candidates;
      Index* const indices = scratch_.candidate_indices_.data() + i * sizes_.candidates;
      const Collected found =
          collect({part.values, part.count, nullptr, static_cast<Index>(part.first), bound,
                   std::numeric_limits<std::int64_t>::max(), sizes_.candidates, indices, values});
      const bool complete = found.read == part.count;
      part = {values, indices, 0, found.taken, 0, 0, 0, found.nans, complete};
    });
    work_ = 0;
    nans_ = 0;
    bool complete = true;
    for (const Part& part : parts_) {
      work_ += part.count;
      nans_ += part.nans;
      complete = complete && part.complete;
    }
    return complete && work_ >= k_;
  }

  Collected collect(const CollectJob<Index>& job) const {
    if constexpr (sizeof(Index) == sizeof(std::int32_t)) {
      return loops_.collect32(job);
    } else {
      return loops_.collect64(job);
    }
  }

  // Digit by digit: the histogram tells which value of it the k-th largest magnitude has. Lowers k
  // to the numbers there are.
  void find_threshold() {
    remaining_ = k_;
    if (work_ > kCached) {
      for (const Digit& digit : kDigits) find_digit(digit);
    } else {
      for (const Digit& digit : kCachedDigits) find_digit(digit);
    }
  }

  [[nodiscard]] std::int64_t* bins_of(int part) const {
    return scratch_.bins_.data() + part * sizes_.bins;
  }

  void find_digit(const Digit& digit) {
    const std::int64_t values = std::int64_t{1} << digit.bits;
    for_each_part([this, digit, values](int i) {
      const Part& part = parts_[static_cast<std::size_t>(i)];
      std::int64_t* const bins = bins_of(i);
      std::fill_n(bins, values * digit.copies, 0);
      loops_.histogram({part.values, part.count, threshold_, prefix_shift_, digit.shift, digit.bits,
                        digit.copies, bins});
      for (std::int64_t bin = 0; digit.copies == 2 && bin < values; ++bin) {
        bins[bin] += bins[values + bin];
      }
    });
    if (prefix_shift_ == kMagnitudeBits) {
      for (int i = 0; i < count_; ++i) {
        numbers_ = std::accumulate(bins_of(i), bins_of(i) + values, numbers_);
      }
      k_ = std::min(k_, numbers_);
      remaining_ = k_;
    }
    descend(digit, values);
  }

  // Goes down from the largest value of the digit to the one that holds the remaining_-th element.
  void descend(const Digit& digit, std::int64_t values) {
    std::int64_t value = values - 1;
    for (; value > 0; --value) {
      std::int64_t here = 0;
      for (int i = 0; i < count_; ++i) here += bins_of(i)[value];
      if (here >= remaining_) break;
      remaining_ -= here;
      for (int i = 0; i < count_; ++i)
        parts_[static_cast<std::size_t>(i)].above += bins_of(i)[value];
    }
    for (int i = 0; i < count_; ++i) parts_[static_cast<std::size_t>(i)].ties = bins_of(i)[value];
    threshold_ = static_cast<std::int32_t>((std::int64_t{threshold_} << digit.bits) | value);
    prefix_shift_ = digit.shift;
  }

  // Each part writes its share, the first parts getting the ties that are still wanted.
  void emit(Index* indices, float* selected) {
    std::int64_t begin = 0;
    for (Part& part : parts_) {
      part.ties = std::min(part.ties, remaining_);
      remaining_ -= part.ties;
      part.begin = begin;
      begin += part.above + part.ties;
    }
    MERGEWISE_CHECK(begin == k_ && remaining_ == 0, "top_k: the parts' shares are not k");
    for_each_part([this, indices, selected](int i) {
      Part& part = parts_[static_cast<std::size_t>(i)];
      const std::int64_t room = part.above + part.ties;
      if (room == 0) return;
      const Collected found =
          collect({part.values, part.count, part.indices, static_cast<Index>(part.first),
                   threshold_, part.ties, room, indices + part.begin, selected + part.begin});
      part.complete = found.taken == room;
    });
    const bool complete =
        std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.complete; });
    MERGEWISE_CHECK(complete, "top_k: the input changed during the call");
  }

  static constexpr int kMagnitudeBits = 31;

  std::span<const float> values_;
  std::int64_t n_;
  std::int64_t k_;
  int count_;
  Sizes sizes_;
  TopKScratch<Index>& scratch_;
  std::span<Part> parts_;
  const TopKLoops& loops_;
  Team* team_;

  std::int64_t work_ = 0;     // elements of the parts
  std::int64_t nans_ = 0;     // of the input, when there are candidates
  std::int64_t numbers_ = 0;  // elements of the parts that are not NaN
  // Of the k-th largest magnitude the digits found so far, and how many elements of that prefix are
  // still wanted.
  std::int32_t threshold_ = 0;
  int prefix_shift_ = kMagnitudeBits;
  std::int64_t remaining_ = 0;
};

template <typename Index>
TopKCounts top_k(std::span<const float> values, std::int64_t k, std::span<Index> indices,
                 std::span<float> selected, TopKScratch<Index>& scratch, HostRun how) {
  const std::int64_t n = std::ssize(values);
  if (k < 0) throw InputError(fmt::format("top_k cannot select {} elements: k must be >= 0.", k));
  if (sizeof(Index) < sizeof(std::int64_t) && !fits_int32_index(n)) {
    throw InputError(
        fmt::format("top_k: 32 bits do not hold the indices of {} elements; use 64.", n));
  }
  const std::int64_t wanted = std::min(k, n);
  if (std::ssize(indices) < wanted || std::ssize(selected) < wanted) {
    throw InputError(fmt::format(
        "top_k selects up to {} elements, but its outputs hold {} indices and {} values.", wanted,
        indices.size(), selected.size()));
  }
  scratch.reserve(n, wanted, how.team != nullptr ? how.team->size() : 1);
  return TopKSelection<Index>(values, wanted, scratch, how).run(indices.data(), selected.data());
}

template class TopKScratch<std::int32_t>;
template class TopKScratch<std::int64_t>;
template TopKCounts top_k(std::span<const float>, std::int64_t, std::span<std::int32_t>,
                          std::span<float>, TopKScratch<std::int32_t>&, HostRun);
template TopKCounts top_k(std::span<const float>, std::int64_t, std::span<std::int64_t>,
                          std::span<float>, TopKScratch<std::int64_t>&, HostRun);

}  // namespace mergewise
