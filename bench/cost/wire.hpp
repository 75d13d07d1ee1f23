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
  WireFormat() : WireFormat("none", 0.001, 4) {}
  /// Throws InputError for an unknown compressor (with the valid ids), a density outside (0, 1], or
  /// an element size below 1.
  WireFormat(const std::string& compressor, double density, Bytes element_bytes);

  [[nodiscard]] const std::string& compressor() const { return compressor_; }
  [[nodiscard]] double density() const { return density_; }
  [[nodiscard]] Bytes element_bytes() const { return element_bytes_; }
  [[nodiscard]] bool dense() const { return dense_; }  ///< compressor "none"
  [[nodiscard]] Collective collective() const;
  /// Bytes that one rank contributes for a group of `dense` bytes in `tensors` tensors that have
  /// bytes (some compressors send a scale for each): the table of docs/compressors.md. 0 for an
  /// empty group.
  [[nodiscard]] Bytes wire_bytes(Bytes dense, std::int64_t tensors) const {
    return dense_ ? dense : compressed_bytes(dense, tensors);
  }

 private:
  [[nodiscard]] Bytes compressed_bytes(Bytes dense, std::int64_t tensors) const;

  std::string compressor_;
  double density_;
  Bytes element_bytes_;
  bool dense_;
  const detail::MessageRule* rule_;
};

}  // namespace mergewise
