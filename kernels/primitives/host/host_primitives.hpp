// SPDX-License-Identifier: Apache-2.0
// The primitives of compressors on the host. What each does: kernels/primitives/README.md. For
// sources that are compiled once for each instruction set: README.md says what those may call.
#pragma once

#include "kernels/primitives/codes.hpp"
#include "kernels/primitives/finite.hpp"
#include "kernels/primitives/group_layout.hpp"
#include "kernels/primitives/host/decoder.hpp"
#include "kernels/primitives/host/host_tools.hpp"
#include "kernels/primitives/host/instruction_set.hpp"
#include "kernels/primitives/host/parts.hpp"
#include "kernels/primitives/host/tile_coder.hpp"
#include "kernels/primitives/host/tiles.hpp"
#include "kernels/primitives/host/vectors.hpp"
#include "kernels/primitives/message_facts.hpp"
#include "kernels/primitives/philox.hpp"
#include "kernels/primitives/sample.hpp"
#include "kernels/primitives/sparse_entries.hpp"
#include "kernels/primitives/sums.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mergewise::MERGEWISE_ISA {

class HostPrimitives {
 public:
  explicit HostPrimitives(const HostTools& tools) : tools_(tools) {}

  template <typename F>
  void for_each(std::uint64_t count, const F& f) const {
    in_parts(tools_, count, [&f](const Part& part) {
      const F own = f;  // of which nobody else knows, so that it stays in registers
      for (std::uint64_t i = part.begin; i < part.end; ++i) own(i);
    });
  }

  template <typename F>
  void for_each_if(const MessageFacts* facts, std::uint64_t count, const F& f) const {
    if (facts->nans > 0 || facts->infinities > 0) for_each(count, f);
  }

  template <typename Source, typename F>
  void for_each_counted(std::uint64_t count, const Source& source, const F& f,
                        MessageFacts* facts) const {
    PartSpecials specials;
    in_parts(tools_, count, [&](const Part& part) {
      const Source from = source;
      const F own = f;
      Specials found;
      Tile tile;
      for_each_tile(part.begin, part.end, [&](std::uint64_t begin, std::uint32_t size) {
        tile.load(from, begin, size, found);
        for (std::uint32_t j = 0; j < size; ++j) own(begin + j, tile.value[j]);
      });
      specials.of[part.index] = found;
    });
    specials.add_to(facts);
  }

  template <typename F>
  void for_each_element(const GroupView& group, const F& f) const {
    for_each_chunk(tools_, group, [&f](const Part& part, const GroupView& view) {
      const F own = f;
      for (std::uint64_t c = part.begin; c < part.end; ++c) {
        const Chunk chunk = chunk_of(view, c);
        for (std::uint64_t j = 0; j < chunk.count; ++j) own(chunk.begin + j, chunk.tensor);
      }
    });
  }

  template <typename Source, typename F>
  void sums_by_tensor(const GroupView& group, const Source& source, const F& f, double* totals,
                      MessageFacts* facts) const {
    using Sum = decltype(f(0.0F));
    if (group.tensors == 0) return;
    double* const partial = partial_sums(*tools_.scratch, Sum::kCount * group.chunk_count);
    PartSpecials specials;
    for_each_chunk(tools_, group, [&](const Part& part, const GroupView& view) {
      const Source from = source;
      const F own = f;
      Specials found;
      Tile tile;
      for (std::uint64_t c = part.begin; c < part.end; ++c) {
        const Chunk chunk = chunk_of(view, c);
        LaneSums<Sum> sums;
        for_each_tile(chunk.begin, chunk.begin + chunk.count,
                      [&](std::uint64_t begin, std::uint32_t size) {
                        tile.load(from, begin, size, found);
                        sums.add(tile.value, size, own);
                      });
        for (std::size_t s = 0; s < Sum::kCount; ++s) partial[Sum::kCount * c + s] = sums.total(s);
      }
      specials.of[part.index] = found;
    });
    specials.add_to(facts);
    std::memset(totals, 0, Sum::kCount * group.tensors * sizeof *totals);
    for (std::uint64_t c = 0; c < group.chunk_count; ++c) {
      const std::uint64_t tensor = chunk_of(group, c).tensor;
      for (std::size_t s = 0; s < Sum::kCount; ++s) {
        totals[Sum::kCount * tensor + s] += partial[Sum::kCount * c + s];
      }
    }
  }

  template <typename Source>
  void largest_by_tensor(const GroupView& group, const Source& source, const float* limits,
                         float* totals) const {
    double* const partial = partial_sums(*tools_.scratch, group.chunk_count);
    for_each_chunk(tools_, group, [&](const Part& part, const GroupView& view) {
      const Source from = source;
      Specials ignored;
      Tile tile;
      for (std::uint64_t c = part.begin; c < part.end; ++c) {
        const Chunk chunk = chunk_of(view, c);
        std::uint32_t most = 0;  // magnitudes are in the order of their bits
        for_each_tile(chunk.begin, chunk.begin + chunk.count,
                      [&](std::uint64_t begin, std::uint32_t size) {
                        tile.load(from, begin, size, ignored);
                        most = tile.most > most ? tile.most : most;
                      });
        partial[c] = static_cast<double>(smaller(float_of(most), limits[chunk.tensor]));
      }
    });
    for (std::uint32_t t = 0; t < group.tensors; ++t) totals[t] = 0;
    for (std::uint64_t c = 0; c < group.chunk_count; ++c) {
      float& total = totals[chunk_of(group, c).tensor];
      total = larger(total, static_cast<float>(partial[c]));
    }
  }

  template <typename Code, typename Source>
  void encode(const GroupView& group, const DrawKey& key, const Source& source,
              const std::byte* scales, std::byte* codes, float* memory, MessageFacts* facts) const {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(codes);
    PartSpecials specials;
    PartBorders borders;
    for_each_chunk(tools_, group, [&](const Part& part, const GroupView& view) {
      const Source from = source;
      TileCoder<Code> coder;
      CodeWriter<Code::kBits> writer(bytes, borders.of[part.index],
                                     chunk_of(view, part.begin).begin);
      for (std::uint64_t c = part.begin; c < part.end; ++c) {
        const Chunk chunk = chunk_of(view, c);
        const DrawKey own = draw_key_of(view, key, chunk.tensor);
        const auto scale = Code::scale(scales, chunk.tensor);
        for_each_tile<TileCoder<Code>::kSize>(
            chunk.begin, chunk.begin + chunk.count, [&](std::uint64_t begin, std::uint32_t size) {
              const std::uint64_t drawn = chunk.offset + (begin - chunk.begin);
              coder.encode(from, begin, size, scale, own, drawn, memory);
              writer.write(coder.codes(), begin, size);
            });
      }
      specials.of[part.index] = coder.specials();
    });
    borders.add_to(bytes);
    specials.add_to(facts);
  }

  template <typename Code>
  void mean_of_codes(const GroupView& group, const DrawKey& key, const std::byte* messages,
                     std::uint64_t stride, std::uint64_t scales_at, std::uint32_t ranks,
                     float* mean) const {
    for_each_chunk(tools_, group, [&](const Part& part, const GroupView& view) {
      Decoder<Code> decoder({messages, stride, scales_at, ranks});
      for (std::uint64_t c = part.begin; c < part.end; ++c) {
        const Chunk chunk = chunk_of(view, c);
        decoder.decode(chunk, draw_key_of(view, key, chunk.tensor), mean);
      }
    });
  }

  template <typename Format, typename Source>
  void to_halves(std::uint64_t count, const Source& source, float ranks, std::byte* halves,
                 float* memory, MessageFacts* facts) const {
    PartSpecials specials;
    in_parts(tools_, count, [&](const Part& part) {
      const Source from = source;
      Specials found;
      Tile tile;
      Tile said;
      const bool exact = (bits_of(ranks) & 0x007FFFFFU) == 0;  // a power of two
      for_each_tile(part.begin, part.end, [&](std::uint64_t begin, std::uint32_t size) {
        tile.load_raw(from, begin, size, found);
        std::byte* const to = halves + 2 * begin;
        if (exact) {
          narrow<Format>(
              tile.value, size, [=](auto x) { return x * (1 / ranks); }, to);
        } else {
          narrow<Format>(
              tile.value, size, [=](auto x) { return x / ranks; }, to);
        }
        if (memory == nullptr) return;
        widen<Format>(to, size, said.value);
        for (std::uint32_t j = 0; j < size; ++j) {
          memory[begin + j] = finite_or_zero(tile.value[j] - ranks * said.value[j]);
        }
      });
      specials.of[part.index] = found;
    });
    specials.add_to(facts);
  }

  template <typename Format>
  void from_halves(std::uint64_t count, const std::byte* halves, float* values) const {
    in_parts(tools_, count, [=](const Part& part) {
      for_each_tile(part.begin, part.end, [&](std::uint64_t begin, std::uint32_t size) {
        widen<Format>(halves + 2 * begin, size, values + begin);
      });
    });
  }

  void top_k(const float* values, std::uint64_t n, std::uint64_t k, const SparseEntries& entries,
             MessageFacts* facts, std::uint64_t* selected) const {
    select_top_k(*tools_.scratch, values, n, k, entries, facts, selected);
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
      thresholds[tensor] = select_largest(scratch + begin, sample.count, sample.selected);
    }
  }

 private:
  HostTools tools_;
};

}  // namespace mergewise::MERGEWISE_ISA
