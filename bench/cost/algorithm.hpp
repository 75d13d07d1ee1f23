// SPDX-License-Identifier: Apache-2.0
// What a collective costs by the algorithm it uses: T(M) = a + b M from the latency, the inverse
// bandwidth and the reduction cost of a link (docs/simulation.md; after MG-WFBP, arXiv 1912.09268,
// table 2).
#pragma once

#include "bench/core/units.hpp"
#include "bench/cost/cost_model.hpp"

#include <string>
#include <vector>

namespace mergewise {

/// alpha, beta and gamma of the formulas.
struct LinkCosts {
  Nanoseconds alpha_ns = 0;           ///< latency of a message
  Nanoseconds beta_ns_per_byte = 0;   ///< 8 / (Gbit/s)
  Nanoseconds gamma_ns_per_byte = 0;  ///< adding up a byte
  friend bool operator==(const LinkCosts&, const LinkCosts&) = default;
};

enum class Algorithm {
  kRing,
  kTree,  ///< pipelined double binary trees, as they can be: b = 2 beta + gamma
  kHalvingDoubling,
  kRecursiveDoubling,
  kBinaryTree,
  kDoubleTreePublished  ///< as published, below the bandwidth bound: only to reproduce that table
};
[[nodiscard]] const char* name_of(Algorithm algorithm);  ///< "ring", "halving_doubling", ...
[[nodiscard]] const std::vector<std::string>& algorithm_names();
/// Throws InputError with the valid names.
[[nodiscard]] Algorithm algorithm_from(const std::string& name);

/// An all-reduce of M bytes between `ranks` >= 1 ranks; nothing for one rank. log2 P is rounded up;
/// halving-doubling folds the ranks beyond a power of two first.
[[nodiscard]] LinearCost all_reduce_line(Algorithm algorithm, const LinkCosts& link, int ranks);
/// An all-gather to which each rank contributes M bytes: kRing or kRecursiveDoubling, else
/// std::logic_error.
[[nodiscard]] LinearCost all_gather_line(Algorithm algorithm, const LinkCosts& link, int ranks);
/// A ring reduce-scatter of M bytes in all.
[[nodiscard]] LinearCost reduce_scatter_line(const LinkCosts& link, int ranks);

}  // namespace mergewise
