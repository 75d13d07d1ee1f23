// SPDX-License-Identifier: Apache-2.0
// Runs compressors by CudaPrimitives (AlgorithmCompressor's Backend), and keeps the layouts of
// groups in the device's memory.
#pragma once

#include "kernels/compress/arguments.hpp"
#include "kernels/cuda/memory.cuh"
#include "kernels/primitives/cuda/cuda_primitives.cuh"
#include "kernels/primitives/group_layout.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace mergewise {

/// Copies of layouts' arrays, each made when it is asked for first and kept as long as the layout
/// (or a copy of it) lives. From any thread.
class DeviceLayouts {
 public:
  /// In the device's memory.
  struct Arrays {
    const std::uint64_t* begins;
    const std::uint64_t* vector_begins;
    const Chunk* chunks;
    const std::uint32_t* ids;
  };

  Arrays of(const GroupLayout& layout, cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(layout.arrays().get());
    if (found != entries_.end()) return found->second.arrays;
    // Layouts whose only owner is this are never asked for again.
    std::erase_if(entries_, [](const auto& entry) { return entry.second.layout.use_count() == 1; });
    return entries_.emplace(layout.arrays().get(), Entry(layout, stream)).first->second.arrays;
  }

 private:
  struct Entry {
    std::shared_ptr<const GroupArrays> layout;
    DeviceMemory memory;
    Arrays arrays{};

    Entry(const GroupLayout& group, cudaStream_t stream) : layout(group.arrays()) {
      const GroupArrays& from = *layout;
      const std::size_t sizes[] = {bytes_of(from.begins), bytes_of(from.vector_begins),
                                   bytes_of(from.chunks), bytes_of(from.ids)};
      const void* const parts[] = {from.begins.data(), from.vector_begins.data(),
                                   from.chunks.data(), from.ids.data()};
      std::byte* to = memory.at_least(sizes[0] + sizes[1] + sizes[2] + sizes[3]);
      std::byte* places[4];
      for (std::size_t i = 0; i < 4; ++i) {
        places[i] = to;
        if (sizes[i] > 0) {
          check_cuda(cudaMemcpyAsync(to, parts[i], sizes[i], cudaMemcpyHostToDevice, stream),
                     "copying a group's layout to the device");
        }
        to += sizes[i];
      }
      arrays = {reinterpret_cast<const std::uint64_t*>(places[0]),
                reinterpret_cast<const std::uint64_t*>(places[1]),
                reinterpret_cast<const Chunk*>(places[2]),
                reinterpret_cast<const std::uint32_t*>(places[3])};
    }

    template <typename T>
    static std::size_t bytes_of(const std::vector<T>& values) {
      return sizeof(T) * values.size();
    }
  };

  std::mutex mutex_;
  std::map<const GroupArrays*, Entry> entries_;
};

namespace cuda {

[[maybe_unused]] __global__ static void set_facts_kernel(MessageFacts* facts, MessageFacts value) {
  if (grid_thread() == 0) *facts = value;
}

}  // namespace cuda

class CudaBackend {
 public:
  explicit CudaBackend(cudaStream_t stream)
      : stream_(stream), layouts_(std::make_unique<DeviceLayouts>()) {}

  template <typename Algorithm>
  void compress(Algorithm, CompressArguments arguments, const GroupLayout& layout,
                const MessageFacts& facts) {
    launch(Kernel{"set_facts", &cuda::set_facts_kernel}, {1, kWarp}, stream_, arguments.facts,
           facts);
    move_layout(arguments, layout);
    Algorithm::compress(CudaPrimitives(stream_, &scratch_), arguments);
  }

  template <typename Algorithm>
  void decompress(Algorithm, DecompressArguments arguments, const GroupLayout& layout) const {
    move_layout(arguments, layout);
    Algorithm::decompress(CudaPrimitives(stream_, nullptr), arguments);
  }

 private:
  template <typename Arguments>
  void move_layout(Arguments& arguments, const GroupLayout& layout) const {
    const DeviceLayouts::Arrays arrays = layouts_->of(layout, stream_);
    arguments.settings.vector_begins = arrays.vector_begins;
    if (arguments.group.piece != 0) return;  // has no arrays
    arguments.group.begins = arrays.begins;
    arguments.group.ids = arrays.ids;
    arguments.group.chunks = arrays.chunks;
  }

  cudaStream_t stream_;
  DeviceMemory scratch_;
  std::unique_ptr<DeviceLayouts> layouts_;
};

}  // namespace mergewise
