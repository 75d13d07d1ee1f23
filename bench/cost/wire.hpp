// SPDX-License-Identifier: Apache-2.0
// How many bytes a group really puts on the wire under a compressor.
#pragma once

#include "bench/core/compressor_spec.hpp"
#include "bench/core/units.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

enum class Collective { kAllReduce, kAllGather, kReduceScatter };
inline constexpr std::array kCollectives{Collective::kAllReduce, Collective::kAllGather,
                                         Collective::kReduceScatter};
[[nodiscard]] const char* name_of(Collective collective);  ///< "all_reduce", ...
/// Throws InputError with the valid names.
[[nodiscard]] Collective collective_from(const std::string& name);

namespace detail {
struct MessageRule;
}

/// The message of a compressor: which collective carries it and how large it is per rank.
/// Immutable; O(1), from any thread.
class WireFormat {
 public:
  WireFormat() : WireFormat(CompressorSpec{}, 4) {}
  /// Throws InputError for an unknown compressor (with the valid ids), a density outside (0, 1], or
  /// an element size below 1.
  WireFormat(CompressorSpec compressor, Bytes element_bytes);

  [[nodiscard]] const CompressorSpec& spec() const { return spec_; }
  [[nodiscard]] const std::string& compressor() const { return spec_.id; }
  [[nodiscard]] Bytes element_bytes() const { return element_bytes_; }
  [[nodiscard]] bool dense() const { return dense_; }  ///< compressor "none"
  [[nodiscard]] Collective collective() const;
  /// A message travels in so many equal parts, one collective after the other.
  [[nodiscard]] int messages() const { return messages_; }
  /// Bytes that one rank contributes for a group of `dense` bytes in `tensors` tensors that have
  /// bytes (some compressors send a scale for each), `vectors` of these bytes in tensors of one
  /// dimension (dgc sends them as they are): the table of docs/compressors.md. 0 for an empty
  /// group.
  [[nodiscard]] Bytes wire_bytes(Bytes dense, std::int64_t tensors, Bytes vectors = 0) const {
    return dense_ ? dense : compressed_bytes(dense, tensors, vectors);
  }

 private:
  [[nodiscard]] Bytes compressed_bytes(Bytes dense, std::int64_t tensors, Bytes vectors) const;

  CompressorSpec spec_;
  Bytes element_bytes_;
  const detail::MessageRule* rule_;
  bool dense_;
  int messages_;
};

}  // namespace mergewise
