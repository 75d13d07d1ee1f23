// SPDX-License-Identifier: Apache-2.0
// How the members of a team share a loop.
#pragma once

#include "kernels/primitives/codes.hpp"
#include "kernels/primitives/group_layout.hpp"
#include "kernels/primitives/host/host_tools.hpp"
#include "kernels/primitives/host/instruction_set.hpp"
#include "kernels/primitives/host/team.hpp"
#include "kernels/primitives/host/tiles.hpp"
#include "kernels/primitives/message_facts.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mergewise::MERGEWISE_ISA {

/// One member's share of a loop.
struct Part {
  int index;
  std::uint64_t begin;
  std::uint64_t end;
};

/// Waking a thread costs as much as so many elements.
inline constexpr std::uint64_t kWorthThreads = std::uint64_t{1} << 15;

/// Calls body(part) for shares of [0, count) that lie one after the other: those that
/// begin_of_part(i, parts) tells.
template <typename Begin, typename Body>
inline void in_parts(const HostTools& tools, std::uint64_t count, std::uint64_t elements,
                     const Begin& begin_of_part, const Body& body) {
  const int parts = elements < kWorthThreads ? 1 : tools.parts;
  auto share = [&](int i) {
    if (i >= parts) return;
    body(Part{i, i == 0 ? 0 : begin_of_part(i, parts),
              i + 1 == parts ? count : begin_of_part(i + 1, parts)});
  };
  if (parts == 1) return share(0);
  tools.team->run(share);
}

/// The same of elements.
template <typename Body>
inline void in_parts(const HostTools& tools, std::uint64_t count, const Body& body) {
  in_parts(
      tools, count, count,
      [count](int i, int parts) {
        return count / static_cast<unsigned>(parts) * static_cast<unsigned>(i);
      },
      body);
}

/// The first chunk that begins at this element or beyond it.
inline std::uint64_t chunk_from(const GroupView& group, std::uint64_t element) {
  std::uint64_t low = 0;
  std::uint64_t high = group.chunk_count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (chunk_of(group, middle).begin < element) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Calls body(part, group) for shares of the chunks, none of them empty.
template <typename Body>
inline void for_each_chunk(const HostTools& tools, const GroupView& group, const Body& body) {
  in_parts(
      tools, group.chunk_count, group.elements,
      [&group](int i, int parts) {
        return chunk_from(group,
                          group.elements / static_cast<unsigned>(parts) * static_cast<unsigned>(i));
      },
      [&](const Part& part) {
        const GroupView own = group;
        if (part.begin < part.end) body(part, own);
      });
}

/// Calls body(begin, size) for [begin, end) in pieces of kSize.
template <std::uint32_t kSize = kTile, typename Body>
inline void for_each_tile(std::uint64_t begin, std::uint64_t end, const Body& body) {
  for (std::uint64_t i = begin; i < end; i += kSize) {
    body(i, static_cast<std::uint32_t>(end - i < kSize ? end - i : kSize));
  }
}

/// What is special, by part.
struct PartSpecials {
  Specials of[kMostParts];

  void add_to(MessageFacts* facts) const {
    if (facts == nullptr) return;
    for (const Specials& found : of) {
      facts->nans += found.nans;
      facts->infinities += found.infinities;
    }
  }
};

/// Bits for a byte that another part writes too.
struct Border {
  std::uint64_t at = 0;
  std::uint8_t bits = 0;
};

/// One for each part's first byte. None is an or with 0 of a byte that exists.
struct PartBorders {
  Border of[kMostParts];

  void add_to(std::uint8_t* bytes) const {
    for (const Border& border : of) {
      if (border.bits != 0)
        bytes[border.at] = static_cast<std::uint8_t>(bytes[border.at] | border.bits);
    }
  }
};

/// Writes a part's codes, tile after tile, into packed bytes. Its first byte, unless it begins with
/// that, belongs to the part before: its own bits of that go to the border, to be added later.
template <unsigned kBits>
class CodeWriter {
 public:
  static constexpr std::uint32_t kOfByte = 8 / kBits;

  CodeWriter(std::uint8_t* bytes, Border& border, std::uint64_t first_element)
      : bytes_(bytes), border_(border), shares_(first_element % kOfByte != 0) {
    border_.at = first_element / kOfByte;
  }

  void write(TileCodes<kBits>& codes, std::uint64_t begin, std::uint32_t count) {
    if constexpr (kBits == 8) return copy(codes.code, count, bytes_ + begin);
    std::uint8_t packed[kDrawnTile / kOfByte + kOverrun];
    const auto skipped = static_cast<std::uint32_t>(begin % kOfByte);
    const std::uint32_t size = codes.pack(skipped, count, packed);
    std::uint64_t at = begin / kOfByte;
    if (skipped == 0) {
      return copy(packed, size, bytes_ + at);
    }
    std::uint8_t& first = shares_ && at == border_.at ? border_.bits : bytes_[at];
    first = static_cast<std::uint8_t>(first | packed[0]);
    copy(packed + 1, size - 1, bytes_ + at + 1);
  }

 private:
  // Without a call for a whole tile: all vectors would have to be saved.
  static void copy(const std::uint8_t* from, std::uint32_t size, std::uint8_t* to) {
    if (size == kTile / kOfByte) {
      std::memcpy(to, from, kTile / kOfByte);
    } else if (size == kDrawnTile / kOfByte) {
      std::memcpy(to, from, kDrawnTile / kOfByte);
    } else {
      std::memcpy(to, from, size);
    }
  }

  std::uint8_t* bytes_;
  Border& border_;
  bool shares_;
};

}  // namespace mergewise::MERGEWISE_ISA
