// SPDX-License-Identifier: Apache-2.0
// The primitives of compressors on CUDA. What each does: kernels/primitives/README.md; how: the
// kernels beside this file.
#pragma once

#include "kernels/cuda/memory.cuh"
#include "kernels/primitives/cuda/codes.cuh"
#include "kernels/primitives/cuda/elements.cuh"
#include "kernels/primitives/cuda/sums.cuh"
#include "kernels/primitives/cuda/thresholds.cuh"
#include "kernels/primitives/cuda/top_k.cuh"
#include "kernels/primitives/sums.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace mergewise {

/// Everything is enqueued on one stream, of the current device; nothing waits for it. Pointers are
/// to the device's memory, also those in a GroupView. A call that is given nothing launches
/// nothing.
class CudaPrimitives {
 public:
  /// `scratch` is needed by sums_by_tensor() and top_k(), which grow it; not owned. Calls that
  /// share it are on the same stream. For n elements top_k() needs 4 n bytes (8 n from 2^31
  /// elements on), 20 for each 1024 of them and 72 KiB, the sums 12 (one double: 8) for each chunk.
  CudaPrimitives(cudaStream_t stream, DeviceMemory* scratch) : stream_(stream), scratch_(scratch) {}

  template <typename F>
  void for_each(std::uint64_t count, const F& f) const {
    if (count == 0) return;
    launch(Kernel{"for_each", &cuda::for_each_kernel<F>}, shape(count), stream_, count, f);
  }

  template <typename F>
  void for_each_if(const MessageFacts* facts, std::uint64_t count, const F& f) const {
    if (count == 0) return;
    launch(Kernel{"for_each_if", &cuda::for_each_if_kernel<F>}, shape(count), stream_, facts, count,
           f);
  }

  template <typename Source, typename F>
  void for_each_counted(std::uint64_t count, const Source& source, const F& f,
                        MessageFacts* facts) const {
    if (count == 0) return;
    launch(Kernel{"for_each_counted", &cuda::for_each_counted_kernel<Source, F>}, shape(count),
           stream_, count, source, f, facts);
  }

  template <typename F>
  void for_each_element(const GroupView& group, const F& f) const {
    if (group.elements == 0) return;
    const std::uint64_t most = std::min<std::uint64_t>(group.elements, kChunk);
    LaunchShape blocks = shape(most);
    blocks.grid = dim3(static_cast<unsigned>(std::min(group.chunk_count, kMaxBlocks)));
    launch(Kernel{"for_each_element", &cuda::for_each_element_kernel<F>}, blocks, stream_, group,
           f);
  }

  template <typename Source, typename F>
  void sums_by_tensor(const GroupView& group, const Source& source, const F& f, double* totals,
                      MessageFacts* facts) const {
    using Sum = std::invoke_result_t<F, float>;
    using Number = typename Sum::Number;
    if (group.elements == 0) return;
    const bool at_once = group.chunk_count == group.tensors;
    Number* const partials = at_once ? nullptr
                                     : reinterpret_cast<Number*>(scratch_->at_least(
                                           Sum::kCount * sizeof(Number) * group.chunk_count));
    launch(Kernel{"chunk_sums", &cuda::chunk_sums_kernel<Sum, Source, F>},
           shape_for_warps(group.chunk_count), stream_, group, source, f, partials, totals, facts);
    if (at_once) return;
    launch(Kernel{"tensor_sums", &cuda::tensor_sums_kernel<Sum::kCount, Number>},
           shape_for_warps(Sum::kCount * std::uint64_t{group.tensors}), stream_, group, partials,
           totals);
  }

  template <typename Source>
  void largest_by_tensor(const GroupView& group, const Source& source, const float* limits,
                         float* totals) const {
    if (group.elements == 0) return;
    clear(totals, sizeof(float) * group.tensors);
    launch(Kernel{"largest", &cuda::largest_kernel<Source>}, shape_for_warps(group.chunk_count),
           stream_, group, source, limits, totals);
  }

  template <typename Code, typename Source>
  void encode(const GroupView& group, const DrawKey& key, const Source& source,
              const std::byte* scales, std::byte* codes, float* memory, MessageFacts* facts) const {
    if (group.elements == 0) return;
    const std::uint64_t eights = (group.elements - 1) / cuda::kEight + 1;
    launch(Kernel{"encode", &cuda::encode_kernel<Code, Source>}, shape_for(eights), stream_,
           cuda::Encoder<Code, Source>{group, key, source, scales, codes, memory}, eights, facts);
  }

  template <typename Code>
  void mean_of_codes(const GroupView& group, const DrawKey& key, const std::byte* messages,
                     std::uint64_t stride, std::uint64_t scales_at, std::uint32_t ranks,
                     float* mean) const {
    if (group.elements == 0) return;
    const std::uint64_t eights = (group.elements - 1) / cuda::kEight + 1;
    launch(Kernel{"mean_of_codes", &cuda::mean_of_codes_kernel<Code>}, shape_for(eights), stream_,
           cuda::MeanOfCodes<Code>{group, key, messages, stride, scales_at, ranks, mean}, eights);
  }

  template <typename Format, typename Source>
  void to_halves(std::uint64_t count, const Source& source, float ranks, std::byte* halves,
                 float* memory, MessageFacts* facts) const {
    if (count == 0) return;
    launch(Kernel{"to_halves", &cuda::to_halves_kernel<Format, Source>}, shape(count), stream_,
           count, source, ranks, reinterpret_cast<std::uint16_t*>(halves), memory, facts);
  }

  template <typename Format>
  void from_halves(std::uint64_t count, const std::byte* halves, float* values) const {
    if (count == 0) return;
    launch(Kernel{"from_halves", &cuda::from_halves_kernel<Format>}, shape(count), stream_, count,
           reinterpret_cast<const std::uint16_t*>(halves), values);
  }

  void top_k(const float* values, std::uint64_t n, std::uint64_t k, const SparseEntries& entries,
             MessageFacts* facts, std::uint64_t* selected) const {
    if (entries.index_size == sizeof(std::int32_t)) {
      top_k_of<std::uint32_t>(values, n, k, entries, facts, selected);
    } else {
      top_k_of<std::uint64_t>(values, n, k, entries, facts, selected);
    }
  }

  template <typename F>
  void sampled_thresholds(const GroupView& group, const DrawKey& key, double density,
                          const F& magnitude, float* thresholds, float* scratch) const {
    if (group.elements == 0) return;
    // Blocks of a tensor: as many as a sample of half the group would keep busy.
    const std::uint64_t rows = std::clamp<std::uint64_t>(group.elements / 2 / 100 / 1024, 1, 16);
    const dim3 grid(std::min(group.tensors, kMaxColumns), static_cast<unsigned>(rows));
    // Samples are of 256 elements at least, and of more only where a tensor is large.
    const unsigned threads = group.elements <= 65536 ? 2 * kWarp : 256;
    launch(Kernel{"gather_samples", &cuda::gather_samples_kernel<F>}, {grid, threads}, stream_,
           group, key, density, magnitude, scratch);
    launch(Kernel{"select_samples", &cuda::select_samples_kernel}, {grid.x, threads}, stream_,
           group, key, density, scratch, thresholds);
  }

 private:
  static constexpr std::uint64_t kMaxBlocks = 2048;
  static constexpr std::uint32_t kMaxColumns = 2048;

  // A thread takes a few elements: launches of small groups are cheaper, large ones stride anyway.
  static LaunchShape shape(std::uint64_t count) { return shape_for((count - 1) / 4 + 1); }

  void clear(void* bytes, std::size_t size) const {
    check_cuda(cudaMemsetAsync(bytes, 0, size, stream_), "clearing device memory");
  }

  template <typename Index>
  cuda::TopKWork<Index> top_k_work(const float* values, std::uint64_t n, std::uint64_t k) const {
    const std::uint64_t tiles = cuda::tiles_of(n);
    std::byte* const bytes =
        scratch_->at_least(sizeof(cuda::TopKState) + sizeof(cuda::TileOffset) * tiles +
                           sizeof(Index) * n + sizeof(std::uint32_t) * tiles);
    auto* const state = reinterpret_cast<cuda::TopKState*>(bytes);
    auto* const offsets = reinterpret_cast<cuda::TileOffset*>(state + 1);
    auto* const candidates = reinterpret_cast<Index*>(offsets + tiles);
    return {values,  n,         k, state, reinterpret_cast<std::uint32_t*>(candidates + n),
            offsets, candidates};
  }

  template <typename Index>
  void top_k_of(const float* values, std::uint64_t n, std::uint64_t k, const SparseEntries& entries,
                MessageFacts* facts, std::uint64_t* selected) const {
    if (k == 0) {
      if (selected != nullptr) clear(selected, sizeof *selected);
      return;
    }
    const auto work = top_k_work<Index>(values, n, k);
    cuda::TopKState* const state = work.state;
    clear(state, sizeof *state);
    const auto find = [&](const std::uint64_t* histogram, std::uint32_t bins) {
      const unsigned threads = bins == cuda::kFirstBins ? 256 : 2 * kWarp;
      launch(Kernel{"find_digit", &cuda::find_digit_kernel}, {1, threads}, stream_, state,
             histogram, bins, k);
    };
    const std::uint64_t tiles = cuda::tiles_of(n);
    const LaunchShape warps = shape_for_warps(std::max<std::uint64_t>(tiles, 1));
    LaunchShape histogram = shape_for((std::max<std::uint64_t>(n, 1) - 1) / 64 + 1);
    histogram.shared_bytes = sizeof(unsigned) * cuda::kFirstBins;
    launch(Kernel{"first_histogram", &cuda::first_histogram_kernel<Index>}, histogram, stream_,
           work, facts);
    find(state->first_bins, cuda::kFirstBins);
    launch(Kernel{"split", &cuda::split_kernel<Index>}, warps, stream_, work);
    histogram.shared_bytes = sizeof(unsigned) * cuda::kLaterBins;
    for (unsigned later = 0; later < 2; ++later) {
      launch(Kernel{"later_histogram", &cuda::later_histogram_kernel<Index>}, histogram, stream_,
             work, later == 0 ? cuda::kSecondShift : 0, state->later_bins[later]);
      find(state->later_bins[later], cuda::kLaterBins);
    }
    launch(Kernel{"count_candidates", &cuda::count_candidates_kernel<Index>}, histogram, stream_,
           work);
    launch(Kernel{"scan_tiles", &cuda::scan_tiles_kernel}, {1, tiles <= 512 ? kWarp : 256}, stream_,
           work.counts, tiles, work.offsets);
    launch(Kernel{"write", &cuda::write_kernel<Index>}, warps, stream_, work, entries, selected);
  }

  cudaStream_t stream_;
  DeviceMemory* scratch_;
};

}  // namespace mergewise
