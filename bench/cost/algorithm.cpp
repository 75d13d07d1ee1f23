// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/algorithm.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"

#include <bit>

namespace mergewise {
namespace {

struct Named {
  Algorithm algorithm;
  const char* name;
};
constexpr Named kAlgorithms[] = {{Algorithm::kRing, "ring"},
                                 {Algorithm::kTree, "tree"},
                                 {Algorithm::kHalvingDoubling, "halving_doubling"},
                                 {Algorithm::kRecursiveDoubling, "recursive_doubling"},
                                 {Algorithm::kBinaryTree, "binary_tree"},
                                 {Algorithm::kDoubleTreePublished, "double_tree_published"}};

// log2 P, rounded up: steps until everybody has heard from everybody.
double steps(int ranks) { return std::bit_width(static_cast<unsigned>(ranks) - 1); }

// (P-1)/P: what of the data each rank sends or receives in one half of an all-reduce.
double others_part(int ranks) { return static_cast<double>(ranks - 1) / ranks; }

// Ranks beyond a power of two first hand all they have to a partner, and get the result from it.
LinearCost halving_doubling(const LinkCosts& link, int ranks) {
  const double beta = link.beta_ns_per_byte;
  const double gamma = link.gamma_ns_per_byte;
  const auto power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  LinearCost line{2 * link.alpha_ns * steps(power), (2 * beta + gamma) * others_part(power)};
  if (power < ranks) {
    line.a_ns += 2 * link.alpha_ns;
    line.b_ns_per_byte += 2 * beta + gamma;
  }
  return line;
}

}  // namespace

const char* name_of(Algorithm algorithm) {
  for (const Named& named : kAlgorithms) {
    if (named.algorithm == algorithm) return named.name;
  }
  return "";
}

const std::vector<std::string>& algorithm_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Named& named : kAlgorithms) names.emplace_back(named.name);
    return names;
  }();
  return kNames;
}

Algorithm algorithm_from(const std::string& name) {
  for (const Named& named : kAlgorithms) {
    if (named.name == name) return named.algorithm;
  }
  throw InputError(unknown_name("algorithm", name, algorithm_names()));
}

LinearCost all_reduce_line(Algorithm algorithm, const LinkCosts& link, int ranks) {
  MERGEWISE_CHECK(ranks >= 1, "an all-reduce needs ranks");
  if (ranks == 1) return {};
  const double alpha = link.alpha_ns;
  const double beta = link.beta_ns_per_byte;
  const double gamma = link.gamma_ns_per_byte;
  const double log_p = steps(ranks);
  switch (algorithm) {
    case Algorithm::kRing:
      return {2 * (ranks - 1) * alpha, (2 * beta + gamma) * others_part(ranks)};
    case Algorithm::kTree:
      return {2 * alpha * log_p, 2 * beta + gamma};
    case Algorithm::kHalvingDoubling:
      return halving_doubling(link, ranks);
    case Algorithm::kRecursiveDoubling:
      return {alpha * log_p, (beta + gamma) * log_p};
    case Algorithm::kBinaryTree:
      return {2 * alpha * log_p, (2 * beta + gamma) * log_p};
    case Algorithm::kDoubleTreePublished:
      return {2 * alpha * log_p, beta + gamma};
  }
  MERGEWISE_CHECK(false, "no such algorithm");
}

LinearCost all_gather_line(Algorithm algorithm, const LinkCosts& link, int ranks) {
  MERGEWISE_CHECK(ranks >= 1, "an all-gather needs ranks");
  MERGEWISE_CHECK(algorithm == Algorithm::kRing || algorithm == Algorithm::kRecursiveDoubling,
                  "all-gathers are by ring or recursive doubling");
  if (ranks == 1) return {};
  const double messages = algorithm == Algorithm::kRing ? ranks - 1 : steps(ranks);
  return {messages * link.alpha_ns, (ranks - 1) * link.beta_ns_per_byte};
}

LinearCost reduce_scatter_line(const LinkCosts& link, int ranks) {
  MERGEWISE_CHECK(ranks >= 1, "a reduce-scatter needs ranks");
  return {(ranks - 1) * link.alpha_ns,
          (link.beta_ns_per_byte + link.gamma_ns_per_byte) * others_part(ranks)};
}

}  // namespace mergewise
