// SPDX-License-Identifier: Apache-2.0
// Top-k: the k elements of largest magnitude of the whole group, ties to the lower index. Aji,
// Heafield: Sparse Communication for Distributed Gradient Descent, EMNLP 2017.
#pragma once

#include "bench/core/dtype.hpp"
#include "kernels/compress/sparse.hpp"
#include "kernels/primitives/finite.hpp"

#include <optional>

namespace mergewise {

/// k entries, indices ascending; where fewer elements are numbers, the last ones are without an
/// index. Infinities are sent first, NaN never is; neither stays in the residual.
struct TopK {
  static std::optional<DType> summed_as() { return std::nullopt; }
  static std::uint64_t bytes(const GroupView& group, const CompressSettings& settings) {
    return (index_bytes(group.elements) + sizeof(float)) * settings.selected;
  }
  static std::uint64_t scratch_bytes(const GroupView&, const CompressSettings&) { return 0; }

  template <typename On>
  static void compress(const On& on, const CompressArguments& arguments) {
    const CompressArguments a = arguments;
    const std::uint64_t n = a.group.elements;
    const std::uint64_t k = a.settings.selected;
    const SparseEntries sent = entries_at(a.message, n, k);
    if (a.memory == nullptr) {
      on.top_k(a.gradient, n, k, sent, a.facts, nullptr);
      return;
    }
    on.for_each(n, [=] MERGEWISE_HD_LAMBDA(std::uint64_t i) { a.memory[i] += a.gradient[i]; });
    on.top_k(a.memory, n, k, sent, a.facts, nullptr);
    on.for_each(k, [=] MERGEWISE_HD_LAMBDA(std::uint64_t j) {
      if (sent.index(j) != kNoIndex) a.memory[sent.index(j)] = 0;
    });
    on.for_each_if(a.facts, n, [=] MERGEWISE_HD_LAMBDA(std::uint64_t i) {
      a.memory[i] = finite_or_zero(a.memory[i]);
    });
  }

  template <typename On>
  static void decompress(const On& on, const DecompressArguments& arguments) {
    mean_of_entries(on, arguments);
  }
};

}  // namespace mergewise
