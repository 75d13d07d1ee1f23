// SPDX-License-Identifier: Apache-2.0
// The k largest magnitudes, by radix search. The input is read three times, the third time only
// where something is selected: (1) a histogram of the upper 13 of a magnitude's 31 bits tells to
// which 3 % of its value the k-th largest is known; (2) the candidates in that bin are collected,
// and what is above is counted in each tile; among candidates two more histograms find the exact
// threshold; (3) tiles write their part. Where all magnitudes are alike all are candidates, which
// is slower but as right. cub::DeviceTopK keeps no order of ties or indices; cub::DeviceRadixSort
// of all pairs moves 8 n bytes 4 times.
#pragma once

#include "kernels/primitives/cuda/elements.cuh"
#include "kernels/primitives/cuda/scan.cuh"
#include "kernels/primitives/sparse_entries.hpp"

#include <cstddef>
#include <cstdint>

namespace mergewise::cuda {

/// Elements that a warp looks at, in order.
constexpr std::uint32_t kTile = 1024;

MERGEWISE_HD constexpr std::uint64_t tiles_of(std::uint64_t n) {
  return n / kTile + (n % kTile != 0 ? 1 : 0);
}

/// Digits of a magnitude's bits, the upper ones first; how many values each has.
constexpr unsigned kFirstShift = 18;
constexpr unsigned kSecondShift = 9;
constexpr std::uint32_t kFirstBins = 1U << 13U;
constexpr std::uint32_t kLaterBins = 1U << 9U;

/// What the search knows, all zeros at first.
struct TopKState {
  std::uint64_t first_bins[kFirstBins];
  std::uint64_t later_bins[2][kLaterBins];
  std::uint64_t selected;    ///< min(k, numbers there are)
  std::uint64_t wanted;      ///< of those that have the prefix
  std::uint64_t candidates;  ///< how many
  std::uint32_t prefix;      ///< the upper bits of the k-th largest magnitude; in the end all
};

/// How much of a tile is selected: the upper 16 bits count what is above the threshold, the lower
/// ones what equals it.
constexpr std::uint32_t kAboveOne = 1U << 16U;

/// The same of all tiles before one.
struct TileOffset {
  std::uint64_t above;
  std::uint64_t equal;
};

/// Index: unsigned, holds n. In the device's memory: tiles_of(n) counts and offsets, n candidates.
template <typename Index>
struct TopKWork {
  const float* values;
  std::uint64_t n;
  std::uint64_t k;
  TopKState* state;
  std::uint32_t* counts;
  TileOffset* offsets;
  Index* candidates;
};

__device__ inline std::uint32_t magnitude_of(float value) { return bits_of(value) & 0x7FFFFFFFU; }
__device__ inline bool is_number(std::uint32_t magnitude) { return magnitude <= 0x7F800000U; }

/// A block's own histogram in dynamic shared memory: cleared, filled and added to the common one.
struct BlockHistogram {
  unsigned* own = dynamic_shared<unsigned>();
  std::uint32_t bins;

  __device__ explicit BlockHistogram(std::uint32_t number) : bins(number) {
    for (std::uint32_t b = threadIdx.x; b < bins; b += blockDim.x) own[b] = 0;
    __syncthreads();
  }
  __device__ void count(std::uint32_t bin) const { atomicAdd(&own[bin], 1U); }
  __device__ void add_to(std::uint64_t* common) const {
    __syncthreads();
    for (std::uint32_t b = threadIdx.x; b < bins; b += blockDim.x) {
      if (own[b] > 0) add_atomically(&common[b], own[b]);
    }
  }
};

/// Of all numbers; counts what is not finite. Reads the input once, by 16 bytes.
template <typename Index>
__global__ void first_histogram_kernel(TopKWork<Index> work, MessageFacts* facts) {
  const BlockHistogram histogram(kFirstBins);
  Counts counts;
  for (std::uint64_t first = kEight * grid_thread(); first < work.n;
       first += kEight * grid_threads()) {
    float values[kEight];
    const std::uint64_t left = work.n - first;
    if (left >= kEight) {
      read_eight(work.values + first, values);
    } else {
      for (unsigned j = 0; j < kEight; ++j) values[j] = j < left ? work.values[first + j] : 0;
    }
    for (unsigned j = 0; j < kEight; ++j) {
      const std::uint32_t magnitude = magnitude_of(values[j]);
      if (j >= left) continue;
      if (is_number(magnitude)) {
        histogram.count(magnitude >> kFirstShift);
        counts.infinities += is_infinite(values[j]) ? 1 : 0;
      } else {
        ++counts.nans;
      }
    }
  }
  histogram.add_to(work.state->first_bins);
  add_counts(counts, facts);
}

/// One block: the next digit of the threshold.
[[maybe_unused]] __global__ static void find_digit_kernel(TopKState* state,
                                                          const std::uint64_t* histogram,
                                                          std::uint32_t bins, std::uint64_t k) {
  const bool first = bins == kFirstBins;
  const std::uint64_t wanted = first ? k : state->wanted;
  const std::uint64_t all = find_bin(histogram, bins, wanted, [&](const Found& found) {
    state->prefix = state->prefix * bins + found.bin;
    state->wanted = found.wanted;
  });
  if (first && threadIdx.x == 0) state->selected = k < all ? k : all;
}

/// A warp for each tile: counts what is above the threshold's bin and collects what is in it, in
/// any order. The second look, for those few, finds the tile in the cache.
template <typename Index>
__global__ void split_kernel(TopKWork<Index> work) {
  const std::uint32_t bin = work.state->prefix;
  const unsigned lane = lane_of_warp();
  for (std::uint64_t t = grid_thread() / kWarp; t < tiles_of(work.n); t += grid_threads() / kWarp) {
    const std::uint64_t begin = t * kTile;
    const auto end = static_cast<std::uint32_t>(work.n - begin < kTile ? work.n - begin : kTile);
    std::uint32_t own = 0;  // as in counts, but the lower half counts candidates
    MERGEWISE_UNROLL
    for (std::uint32_t j = lane; j < end; j += kWarp) {
      const std::uint32_t magnitude = magnitude_of(work.values[begin + j]);
      const std::uint32_t digit = magnitude >> kFirstShift;
      if (is_number(magnitude)) own += digit > bin ? kAboveOne : digit == bin ? 1 : 0;
    }
    const std::uint32_t inclusive = warp_scan(own);
    const std::uint32_t all = __shfl_sync(kFullWarp, inclusive, static_cast<int>(kWarp - 1));
    if (lane == 0) work.counts[t] = all & ~(kAboveOne - 1);
    const std::uint32_t candidates = all & (kAboveOne - 1);
    if (candidates == 0) continue;  // for all lanes alike
    std::uint64_t place = lane == 0 ? add_atomically(&work.state->candidates, candidates) : 0;
    place = __shfl_sync(kFullWarp, place, 0) + ((inclusive - own) & (kAboveOne - 1));
    for (std::uint32_t j = lane; j < end; j += kWarp) {
      const std::uint32_t magnitude = magnitude_of(work.values[begin + j]);
      if (is_number(magnitude) && magnitude >> kFirstShift == bin) {
        work.candidates[place++] = static_cast<Index>(begin + j);
      }
    }
  }
}

/// Of the candidates that have the prefix the digit at `shift`.
template <typename Index>
__global__ void later_histogram_kernel(TopKWork<Index> work, unsigned shift,
                                       std::uint64_t* common) {
  const BlockHistogram histogram(kLaterBins);
  for (std::uint64_t c = grid_thread(); c < work.state->candidates; c += grid_threads()) {
    const std::uint32_t digits = magnitude_of(work.values[work.candidates[c]]) >> shift;
    if (digits / kLaterBins == work.state->prefix) histogram.count(digits % kLaterBins);
  }
  histogram.add_to(common);
}

/// Counts the candidates in their tiles, now that the threshold is known.
template <typename Index>
__global__ void count_candidates_kernel(TopKWork<Index> work) {
  const std::uint32_t threshold = work.state->prefix;
  for (std::uint64_t c = grid_thread(); c < work.state->candidates; c += grid_threads()) {
    const Index index = work.candidates[c];
    const std::uint32_t magnitude = magnitude_of(work.values[index]);
    const std::uint32_t counted = magnitude > threshold    ? kAboveOne
                                  : magnitude == threshold ? 1
                                                           : 0;
    if (counted > 0) atomicAdd(&work.counts[index / kTile], counted);
  }
}

/// One block: where each tile's part begins. A thread takes kTilesOfThread at a time.
constexpr std::uint32_t kTilesOfThread = 16;

[[maybe_unused]] __global__ static void scan_tiles_kernel(const std::uint32_t* counts,
                                                          std::uint64_t tiles,
                                                          TileOffset* offsets) {
  constexpr unsigned kHalf = 32;  // bits; a round's sums are less than 2^32
  TileOffset before{0, 0};
  const auto wide = [](std::uint32_t count) {
    return std::uint64_t{count / kAboveOne} << kHalf | count % kAboveOne;
  };
  const std::uint64_t of_round = std::uint64_t{kTilesOfThread} * blockDim.x;
  for (std::uint64_t round = 0; round < tiles; round += of_round) {
    const std::uint64_t first = round + std::uint64_t{kTilesOfThread} * threadIdx.x;
    const std::uint64_t end = first + kTilesOfThread < tiles ? first + kTilesOfThread : tiles;
    std::uint64_t own = 0;
    for (std::uint64_t t = first; t < end; ++t) own += wide(counts[t]);
    const Scanned<std::uint64_t> scanned = block_scan(own);
    std::uint64_t place = scanned.before;
    for (std::uint64_t t = first; t < end; ++t) {
      offsets[t] = {before.above + (place >> kHalf), before.equal + (place & 0xFFFFFFFFU)};
      place += wide(counts[t]);
    }
    before.above += scanned.all >> kHalf;
    before.equal += scanned.all & 0xFFFFFFFFU;
  }
}

/// A warp for each tile that has something selected: its entries, in order. An element above the
/// threshold stands behind those above it and the ties before it that are sent.
template <typename Index>
__device__ void write_tile(const TopKWork<Index>& work, std::uint64_t tile,
                           const SparseEntries& entries) {
  const std::uint32_t threshold = work.state->prefix;
  const std::uint64_t ties = work.state->wanted;
  const unsigned before = (1U << lane_of_warp()) - 1;
  TileOffset offset = work.offsets[tile];
  for (std::uint32_t round = 0; round < kTile; round += kWarp) {
    const std::uint64_t i = tile * kTile + round + lane_of_warp();
    const float value = i < work.n ? work.values[i] : float_of(0x7FC00000);
    const std::uint32_t magnitude = magnitude_of(value);
    const bool reaches = is_number(magnitude) && magnitude >= threshold;
    const unsigned reaching = __ballot_sync(kFullWarp, reaches ? 1 : 0);
    if (reaching == 0) continue;  // for all lanes alike
    const unsigned equal = __ballot_sync(kFullWarp, magnitude == threshold ? 1 : 0);
    const unsigned above = reaching & ~equal;
    const std::uint64_t tie = offset.equal + static_cast<unsigned>(__popc(equal & before));
    if (reaches && (magnitude > threshold || tie < ties)) {
      const std::uint64_t place =
          offset.above + static_cast<unsigned>(__popc(above & before)) + (tie < ties ? tie : ties);
      entries.set(place, static_cast<std::int64_t>(i), value);
    }
    offset.above += static_cast<unsigned>(__popc(above));
    offset.equal += static_cast<unsigned>(__popc(equal));
  }
}

/// Also marks the entries that remain and says how many do not. `selected` may be null.
template <typename Index>
__global__ void write_kernel(TopKWork<Index> work, SparseEntries entries, std::uint64_t* selected) {
  for (std::uint64_t t = grid_thread() / kWarp; t < tiles_of(work.n); t += grid_threads() / kWarp) {
    const std::uint32_t count = work.counts[t];
    const bool sends =
        count >= kAboveOne || (count > 0 && work.offsets[t].equal < work.state->wanted);
    if (sends) write_tile(work, t, entries);
  }
  for (std::uint64_t j = work.state->selected + grid_thread(); j < work.k; j += grid_threads()) {
    entries.set(j, kNoIndex, 0);
  }
  if (selected != nullptr && grid_thread() == 0) *selected = work.state->selected;
}

}  // namespace mergewise::cuda
