// SPDX-License-Identifier: Apache-2.0
// The compressors' primitives as kernels/primitives/README.md states them, an element at a time:
// what fast ones must equal bit for bit.
#pragma once

#include "kernels/primitives/codes.hpp"
#include "kernels/primitives/finite.hpp"
#include "kernels/primitives/group_layout.hpp"
#include "kernels/primitives/message_facts.hpp"
#include "kernels/primitives/philox.hpp"
#include "kernels/primitives/sample.hpp"
#include "kernels/primitives/sparse_entries.hpp"
#include "kernels/primitives/sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace mergewise::test {

class ScalarPrimitives {
 public:
  template <typename F>
  void for_each(std::uint64_t count, const F& f) const {
    for (std::uint64_t i = 0; i < count; ++i) f(i);
  }

  template <typename F>
  void for_each_if(const MessageFacts* facts, std::uint64_t count, const F& f) const {
    if (facts->nans > 0 || facts->infinities > 0) for_each(count, f);
  }

  template <typename Source, typename F>
  void for_each_counted(std::uint64_t count, const Source& source, const F& f,
                        MessageFacts* facts) const {
    Counts counts;
    for (std::uint64_t i = 0; i < count; ++i) f(i, counts.clean(source(i)));
    counts.add_to(facts);
  }

  template <typename F>
  void for_each_element(const GroupView& group, const F& f) const {
    for_each_chunk(group, [&](const Chunk& chunk) {
      for (std::uint64_t i = chunk.begin; i < chunk.begin + chunk.count; ++i) f(i, chunk.tensor);
    });
  }

  template <typename Source, typename F>
  void sums_by_tensor(const GroupView& group, const Source& source, const F& f, double* totals,
                      MessageFacts* facts) const {
    using Sum = std::invoke_result_t<F, float>;
    std::fill_n(totals, Sum::kCount * group.tensors, 0.0);
    Counts counts;
    for_each_chunk(group, [&](const Chunk& chunk) {
      typename Sum::Number lanes[Sum::kCount][kLanes] = {};
      for (std::uint64_t j = 0; j < chunk.count; ++j) {
        const Sum added = f(counts.clean(source(chunk.begin + j)));
        for (std::size_t s = 0; s < Sum::kCount; ++s) lanes[s][j % kLanes] += added.value[s];
      }
      for (std::size_t s = 0; s < Sum::kCount; ++s) {
        totals[Sum::kCount * chunk.tensor + s] += static_cast<double>(sum_of(lanes[s]));
      }
    });
    counts.add_to(facts);
  }

  template <typename Source>
  void largest_by_tensor(const GroupView& group, const Source& source, const float* limits,
                         float* totals) const {
    std::fill_n(totals, group.tensors, 0.0F);
    for_each_chunk(group, [&](const Chunk& chunk) {
      float most = totals[chunk.tensor];
      for (std::uint64_t i = chunk.begin; i < chunk.begin + chunk.count; ++i) {
        most = larger(most, smaller(std::fabs(finite_or_zero(source(i))), limits[chunk.tensor]));
      }
      totals[chunk.tensor] = most;
    });
  }

  template <typename Code, typename Source>
  void encode(const GroupView& group, const DrawKey& key, const Source& source,
              const std::byte* scales, std::byte* codes, float* memory, MessageFacts* facts) const {
    constexpr std::uint64_t kOfByte = 8 / Code::kBits;
    std::fill_n(codes, code_bytes<Code::kBits>(group.elements), std::byte{0});
    Counts counts;
    for_each_chunk(group, [&](const Chunk& chunk) {
      const auto scale = Code::scale(scales, chunk.tensor);
      const DrawKey own = draw_key_of(group, key, chunk.tensor);
      for (std::uint32_t j = 0; j < chunk.count; ++j) {
        const std::uint64_t i = chunk.begin + j;
        const float x = counts.clean(source(i));
        const bool drawn =
            Code::kDraws == Draws::kAll || (Code::kDraws == Draws::kOfZeros && x == 0);
        const unsigned code = Code::code(scale, x, drawn ? draw(own, chunk.offset + j) : 0);
        codes[i / kOfByte] |= static_cast<std::byte>(code << (Code::kBits * (i % kOfByte)));
        if (memory != nullptr) memory[i] = Code::kept(x, Code::decoded(scale, code));
      }
    });
    counts.add_to(facts);
  }

  template <typename Code>
  void mean_of_codes(const GroupView& group, const DrawKey& key, const std::byte* messages,
                     std::uint64_t stride, std::uint64_t scales_at, std::uint32_t ranks,
                     float* mean) const {
    for_each_chunk(group, [&](const Chunk& chunk) {
      const DrawKey own = draw_key_of(group, key, chunk.tensor);
      for (std::uint32_t j = 0; j < chunk.count; ++j) {
        const std::uint64_t i = chunk.begin + j;
        float sum = 0;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          const std::byte* const message = messages + rank * stride;
          sum += Code::decoded(Code::scale(message + scales_at, chunk.tensor),
                               code_at<Code::kBits>(message, i));
        }
        const bool drawn = Code::kDraws == Draws::kOfZeros && sum == 0;
        mean[i] = Code::mean(sum, ranks, drawn ? draw(own, chunk.offset + j) : 0);
      }
    });
  }

  template <typename Format, typename Source>
  void to_halves(std::uint64_t count, const Source& source, float ranks, std::byte* halves,
                 float* memory, MessageFacts* facts) const {
    Counts counts;
    for (std::uint64_t i = 0; i < count; ++i) {
      const float x = source(i);
      (void)counts.clean(x);
      const std::uint16_t half = Format::from_bits(bits_of(x / ranks));
      store(halves, i, half);
      if (memory != nullptr) {
        memory[i] = finite_or_zero(x - ranks * float_of(Format::to_bits(half)));
      }
    }
    counts.add_to(facts);
  }

  template <typename Format>
  void from_halves(std::uint64_t count, const std::byte* halves, float* values) const {
    for (std::uint64_t i = 0; i < count; ++i) {
      values[i] = float_of(Format::to_bits(load<std::uint16_t>(halves, i)));
    }
  }

  void top_k(const float* values, std::uint64_t n, std::uint64_t k, const SparseEntries& entries,
             MessageFacts* facts, std::uint64_t* selected) const {
    std::vector<std::int64_t> order;
    std::uint64_t nans = 0;
    std::uint64_t infinities = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      nans += is_nan(values[i]) ? 1U : 0U;
      infinities += is_infinite(values[i]) ? 1U : 0U;
      if (!is_nan(values[i])) order.push_back(static_cast<std::int64_t>(i));
    }
    std::stable_sort(order.begin(), order.end(), [values](std::int64_t a, std::int64_t b) {
      return absolute(values[a]) > absolute(values[b]);
    });
    order.resize(std::min<std::size_t>(order.size(), k));
    std::sort(order.begin(), order.end());
    if (selected != nullptr) *selected = order.size();
    for (std::uint64_t j = 0; j < k; ++j) {
      const bool some = j < order.size();
      entries.set(j, some ? order[j] : kNoIndex, some ? values[order[j]] : 0);
    }
    if (facts != nullptr) {
      facts->nans += nans;
      facts->infinities += infinities;
    }
  }

  template <typename F>
  void sampled_thresholds(const GroupView& group, const DrawKey& key, double density,
                          const F& magnitude, float* thresholds, float* scratch) const {
    for (std::uint32_t tensor = 0; tensor < group.tensors; ++tensor) {
      const Sample sample = sample_of(count_of(group, tensor), density,
                                      draw_block(draw_key_of(group, key, tensor), 0).word[0]);
      const std::uint64_t begin = begin_of(group, tensor);
      for (std::uint64_t j = 0; j < sample.count; ++j) {
        scratch[begin + j] = magnitude(begin + sample.place(j));
      }
      float* const least = scratch + begin + (sample.selected - 1);
      std::nth_element(scratch + begin, least, scratch + begin + sample.count, std::greater<>());
      thresholds[tensor] = *least;
    }
  }

 private:
  static constexpr std::size_t kLanes = 32;  // of a warp

  // Elements that are no finite numbers, which count as 0.
  struct Counts {
    std::uint64_t nans = 0;
    std::uint64_t infinities = 0;
    float clean(float x) {
      nans += is_nan(x) ? 1 : 0;
      infinities += is_infinite(x) ? 1 : 0;
      return finite_or_zero(x);
    }
    void add_to(MessageFacts* facts) const {
      if (facts == nullptr) return;
      facts->nans += nans;
      facts->infinities += infinities;
    }
  };

  template <typename F>
  void for_each_chunk(const GroupView& group, const F& f) const {
    for (std::uint64_t i = 0; i < group.chunk_count; ++i) f(chunk_of(group, i));
  }

  // Lanes are added to those half their distance off.
  template <typename T>
  static T sum_of(T (&lanes)[kLanes]) {
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    return lanes[0];
  }
};

}  // namespace mergewise::test
