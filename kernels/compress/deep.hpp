// SPDX-License-Identifier: Apache-2.0
// Deep gradient compression: Lin, Han, Mao, Wang, Dally, ICLR 2018. Momentum and its sum (the
// velocity) of what was not sent yet, the largest velocities of each tensor by a threshold from a
// sample of it, exactly the k largest of the group among them.
#pragma once

#include "bench/core/dtype.hpp"
#include "kernels/compress/scales.hpp"
#include "kernels/compress/sparse.hpp"
#include "kernels/primitives/finite.hpp"

#include <cmath>
#include <optional>

namespace mergewise {

/// A message: the elements of vectors (tensors of one dimension) as they are, with momentum; then
/// at most k entries, so that its size varies. Momentum and velocity of what was sent are cleared
/// (momentum factor masking); vectors keep their momentum. The memory: of element i the momentum
/// at 2 i, the velocity behind it.
struct DeepCompression {
  static std::optional<DType> summed_as() { return std::nullopt; }
  static std::uint64_t bytes(const GroupView& group, const CompressSettings& settings) {
    return (index_bytes(group.elements) + sizeof(float)) * settings.selected +
           sizeof(float) * vectors(settings);
  }
  /// A norm and a number of entries; the entries; candidates; a threshold of each tensor.
  static std::uint64_t scratch_bytes(const GroupView& group, const CompressSettings& settings) {
    return sizeof(double) + sizeof(std::uint64_t) +
           (index_bytes(group.elements) + sizeof(float)) * settings.selected +
           sizeof(float) * (group.elements + group.tensors);
  }

  template <typename On>
  static void compress(const On& on, const CompressArguments& arguments) {
    const CompressArguments& a = arguments;
    const Scratch scratch(a);
    accumulate(on, a, scratch.norm);
    send_vectors(on, a);
    choose(on, a, scratch);
    send_chosen(on, a, scratch);
  }

  template <typename On>
  static void decompress(const On& on, const DecompressArguments& arguments) {
    const DecompressArguments a = arguments;
    on.for_each_element(a.group, [=] MERGEWISE_HD_LAMBDA(std::uint64_t i, std::uint32_t tensor) {
      float sum = 0;
      if (is_vector(a.settings, tensor)) {
        const std::uint64_t place =
            a.settings.vector_begins[tensor] + (i - begin_of(a.group, tensor));
        for (std::uint32_t rank = 0; rank < a.settings.ranks; ++rank) {
          sum += load<float>(a.messages + rank * a.stride, place) /
                 static_cast<float>(a.settings.ranks);
        }
      }
      a.mean[i] = sum;
    });
    add_entries(on, a, a.settings.selected,
                Received{a.messages, a.stride, a.bytes, a.group.elements,
                         sizeof(float) * vectors(a.settings)});
  }

  // From here on for this algorithm only, and not private: nvcc wants to name what lambdas are in.
  struct Scratch {
    double* norm;
    std::uint64_t* count;
    SparseEntries chosen;
    float* candidates;
    float* thresholds;

    MERGEWISE_HD explicit Scratch(const CompressArguments& a)
        : norm(reinterpret_cast<double*>(a.scratch)),
          count(reinterpret_cast<std::uint64_t*>(norm + 1)),
          chosen(entries_at(reinterpret_cast<std::byte*>(count + 1), a.group.elements,
                            a.settings.selected)),
          candidates(reinterpret_cast<float*>(chosen.values + sizeof(float) * a.settings.selected)),
          thresholds(candidates + a.group.elements) {}
  };

  /// Where the entries of each rank's message lie.
  struct Received {
    const std::byte* messages;
    std::uint64_t stride;
    const std::uint64_t* bytes;
    std::uint64_t n;
    std::uint64_t before;

    MERGEWISE_HD std::uint64_t count(std::uint32_t rank) const {
      return (bytes[rank] - before) / (index_bytes(n) + sizeof(float));
    }
    MERGEWISE_HD SparseEntries operator()(std::uint32_t rank) const {
      // Entries are read here only.
      return entries_at(const_cast<std::byte*>(messages) + rank * stride + before, n, count(rank));
    }
  };

  MERGEWISE_HD static std::uint64_t vectors(const CompressSettings& settings) {
    return settings.dense_vectors ? settings.vector_elements : 0;
  }
  MERGEWISE_HD static bool is_vector(const CompressSettings& settings, std::uint32_t tensor) {
    return settings.dense_vectors &&
           settings.vector_begins[tensor] != settings.vector_begins[tensor + 1];
  }

  template <typename On>
  static void accumulate(const On& on, const CompressArguments& arguments, double* norm) {
    const CompressArguments a = arguments;
    const bool clips = a.settings.clip > 0;
    if (clips) {
      on.sums_by_tensor(as_one_piece(a.group), Accumulated{a.gradient, nullptr}, SumOfSquares{},
                        norm, nullptr);
    }
    on.for_each_counted(
        a.group.elements, Accumulated{a.gradient, nullptr},
        [=] MERGEWISE_HD_LAMBDA(std::uint64_t i, float x) {
          const double length = clips ? std::sqrt(*norm) : 0;
          if (clips && length > a.settings.clip) {
            x *= static_cast<float>(a.settings.clip / length);
          }
          const float momentum = finite_or_zero(a.settings.momentum * a.memory[2 * i] + x);
          a.memory[2 * i] = momentum;
          a.memory[2 * i + 1] = finite_or_zero(a.memory[2 * i + 1] + momentum);
        },
        a.facts);
  }

  template <typename On>
  static void send_vectors(const On& on, const CompressArguments& arguments) {
    const CompressArguments a = arguments;
    if (vectors(a.settings) == 0) return;
    on.for_each_element(a.group, [=] MERGEWISE_HD_LAMBDA(std::uint64_t i, std::uint32_t tensor) {
      if (!is_vector(a.settings, tensor)) return;
      store(a.message, a.settings.vector_begins[tensor] + (i - begin_of(a.group, tensor)),
            a.memory[2 * i]);
      a.memory[2 * i + 1] = 0;
    });
  }

  /// The k largest velocities of those that reach their tensor's threshold. Zeros are not sent.
  template <typename On>
  static void choose(const On& on, const CompressArguments& arguments, const Scratch& scratch) {
    const CompressArguments a = arguments;
    const float* const memory = a.memory;
    const float* const thresholds = scratch.thresholds;
    float* const candidates = scratch.candidates;
    on.sampled_thresholds(
        a.group, a.draws, a.settings.density,
        [=] MERGEWISE_HD_LAMBDA(std::uint64_t i) { return absolute(memory[2 * i + 1]); },
        scratch.thresholds, candidates);
    on.for_each_element(a.group, [=] MERGEWISE_HD_LAMBDA(std::uint64_t i, std::uint32_t tensor) {
      const float velocity = memory[2 * i + 1];
      const bool hit = absolute(velocity) >= thresholds[tensor] && velocity != 0;
      candidates[i] = hit && !is_vector(a.settings, tensor) ? velocity : float_of(0x7FC00000);
    });
    on.top_k(candidates, a.group.elements, a.settings.selected, scratch.chosen, nullptr,
             scratch.count);
  }

  template <typename On>
  static void send_chosen(const On& on, const CompressArguments& arguments,
                          const Scratch& scratch) {
    const CompressArguments a = arguments;
    const SparseEntries chosen = scratch.chosen;
    const std::uint64_t* const count = scratch.count;
    const std::uint64_t n = a.group.elements;
    const std::uint64_t before = sizeof(float) * vectors(a.settings);
    on.for_each(a.settings.selected, [=] MERGEWISE_HD_LAMBDA(std::uint64_t j) {
      if (j >= *count) return;
      const std::int64_t index = chosen.index(j);
      entries_at(a.message + before, n, *count).set(j, index, chosen.value(j));
      a.memory[2 * index] = 0;
      a.memory[2 * index + 1] = 0;
    });
    on.for_each(1, [=] MERGEWISE_HD_LAMBDA(std::uint64_t) {
      a.facts->bytes = before + (index_bytes(n) + sizeof(float)) * *count;
    });
  }
};

}  // namespace mergewise
