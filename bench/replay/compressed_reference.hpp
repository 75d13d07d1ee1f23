// SPDX-License-Identifier: Apache-2.0
// What an iteration with compression must give, recomputed without streams and collectives.
#pragma once

#include "kernels/compress/compressor.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mergewise {

/// Makes all ranks' messages of a group from their small gradients (bench/replay/gradients.hpp) and
/// empty memories, on the calling thread, and decompresses them: work and time of P ranks'
/// compression on every rank, memory for one rank's gradient and all messages of one group at a
/// time.
class CompressedReference {
 public:
  /// A compressor of its own of the same spec, on the host.
  CompressedReference(const CompressorSpec& spec, std::uint32_t iteration, int rank, int ranks);

  struct Expected {
    std::span<const float> mean;
    std::span<const float> memory;  ///< this rank's, afterwards
    /// How far the mean may be off. 0: bit for bit. Else sums of halves are not exact, and depend
    /// on the order of addition: each of P - 1 additions is off by at most half a unit in the last
    /// place of the largest sum there can be, here and there.
    float tolerance = 0;
  };
  /// Of the tensors [begin, end) of a plan. Valid until the next call.
  [[nodiscard]] Expected of(const GroupLayout& layout, std::size_t begin,
                            const std::vector<std::size_t>& tensor_elements);

 private:
  void take_message(const GroupLayout& layout, int rank);
  [[nodiscard]] float tolerance() const;

  std::unique_ptr<Compressor> compressor_;
  std::uint32_t iteration_;
  int rank_;
  int ranks_;
  std::vector<float> gradient_;
  std::vector<float> memory_;
  std::vector<float> own_memory_;
  std::vector<float> mean_;
  std::vector<std::byte> message_;
  std::vector<std::byte> received_;
  std::vector<std::uint64_t> received_bytes_;
  // Of 8 bytes, for alignment.
  std::vector<std::uint64_t> scratch_;
};

/// The first element that is not as expected, within the tolerance (NaN never is), or the size.
[[nodiscard]] std::size_t first_unexpected(std::span<const float> found,
                                           std::span<const float> expected, float tolerance);

}  // namespace mergewise
