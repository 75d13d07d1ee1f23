// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/host/host_tools.hpp"

#include "kernels/primitives/finite.hpp"
#include "kernels/primitives/host/host_scratch.hpp"

#include <algorithm>
#include <functional>
#include <span>

namespace mergewise {
namespace {

template <typename Index>
void select_by(HostRun run, TopKScratch<Index>& scratch, std::span<const float> values,
               std::uint64_t k, const SparseEntries& entries, MessageFacts* facts,
               std::uint64_t* selected) {
  const std::span indices(reinterpret_cast<Index*>(entries.indices), k);
  const std::span sent(reinterpret_cast<float*>(entries.values), k);
  const TopKCounts counts =
      top_k(values, static_cast<std::int64_t>(k), indices, sent, scratch, run);
  for (auto j = static_cast<std::uint64_t>(counts.selected); j < k; ++j) {
    entries.set(j, kNoIndex, 0);
  }
  if (selected != nullptr) *selected = static_cast<std::uint64_t>(counts.selected);
  if (facts == nullptr) return;
  facts->nans += static_cast<std::uint64_t>(counts.nans);
  // They come first: where all that is sent is infinite, more may be left.
  const auto infinite = [](std::span<const float> some) {
    return static_cast<std::uint64_t>(std::count_if(some.begin(), some.end(), is_infinite));
  };
  const std::uint64_t of_sent = infinite(sent);
  facts->infinities += k > 0 && of_sent == k ? infinite(values) : of_sent;
}

}  // namespace

HostTools host_tools(HostRun run, HostScratch* scratch) {
  const int parts = run.team != nullptr ? std::min(run.team->size(), kMostParts) : 1;
  return {run.team, parts, scratch};
}

double* partial_sums(HostScratch& scratch, std::uint64_t count) {
  if (scratch.sums.size() < count) scratch.sums.resize(count);
  return scratch.sums.data();
}

void select_top_k(HostScratch& scratch, const float* values, std::uint64_t n, std::uint64_t k,
                  const SparseEntries& entries, MessageFacts* facts, std::uint64_t* selected) {
  const std::span all(values, n);
  if (entries.index_size == sizeof(std::int32_t)) {
    select_by(scratch.run, scratch.narrow, all, k, entries, facts, selected);
  } else {
    select_by(scratch.run, scratch.wide, all, k, entries, facts, selected);
  }
}

float select_largest(float* values, std::uint64_t count, std::uint64_t place) {
  float* const least = values + (place - 1);
  std::nth_element(values, least, values + count, std::greater<>());
  return *least;
}

}  // namespace mergewise
