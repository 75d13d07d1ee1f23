// SPDX-License-Identifier: Apache-2.0
// Which compressor, and how it is set: what a config says, for plans and kernels alike. What each
// sends: docs/compressors.md.
#pragma once

#include "bench/core/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

/// As compressor_spec() makes it; fields that a compressor has no option for keep their defaults.
struct CompressorSpec {
  std::string id = "none";
  /// What a rank keeps for each element between iterations: "none", "residual" (what its messages
  /// did not say: Seide et al. 2014), "momentum" (signum's), "velocity" (dgc's momentum and
  /// velocity).
  std::string memory = "none";
  double density = 0.001;      ///< of the sparse ones: the part of the elements that is sent
  bool group_scale = false;    ///< one scale for all tensors of a group instead of one for each
  std::int64_t bucket = 512;   ///< of qsgd: elements that share a norm; 0: the whole group
  bool sends_indices = false;  ///< randk draws for each rank alone, and sends where
  int messages = 1;            ///< 2: indices and values apart
  bool dense_vectors = false;  ///< dgc sends tensors of one dimension as they are
  double momentum = 0.9;       ///< of dgc and signum
  double clip = 0;             ///< dgc's: the largest norm of a rank's gradient of a group; 0: any
  std::int64_t warm_up = 0;    ///< dgc's: iterations in which the density falls from 1/4
  std::uint64_t seed = 0;

  friend bool operator==(const CompressorSpec&, const CompressorSpec&) = default;
};

/// In the order in which they are listed; "none" first.
[[nodiscard]] const std::vector<std::string>& compressor_ids();
/// What it can be told. Throws InputError for an unknown id, with the valid ones.
[[nodiscard]] const std::vector<OptionSpec>& compressor_options(const std::string& id);
/// The memories that it accepts, its default first.
[[nodiscard]] const std::vector<std::string>& compressor_memories(const std::string& id);

/// `given` checked and completed; draws are seeded by `run_seed` where no seed is given. Throws
/// InputError for an unknown id, an option that it does not have or a value that it does not take,
/// with what it takes.
[[nodiscard]] CompressorSpec compressor_spec(const std::string& id, const Options& given = {},
                                             std::uint64_t run_seed = 0);

}  // namespace mergewise
