// SPDX-License-Identifier: Apache-2.0
// From the cases of a shortlist to a verdict, and its text: whether merging pays, as which strategy
// merges, by how much, and how sure that is.
#pragma once

#include "bench/result/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

enum class Verdict { kMerge, kDoNotMerge, kNoDifference, kUnknown };
[[nodiscard]] const char* name_of(Verdict verdict);  ///< "merge", "do_not_merge", ...

/// Of two medians, as a part of one of them, with the interval of the ratio.
struct Difference {
  double part = 0;
  Interval interval;
  /// The interval does not contain 0.
  [[nodiscard]] bool distinguishable() const { return interval.low > 0 || interval.high < 0; }
  /// And it is 1 % or more.
  [[nodiscard]] bool matters() const;
  /// The same seen from the other side: what one saves, the other loses.
  [[nodiscard]] Difference negated() const {
    return {-part, {-interval.high, -interval.low, interval.confidence}};
  }
};

struct Recommendation {
  Verdict verdict = Verdict::kUnknown;
  std::vector<CaseRecord> measured;  ///< those with status ok, fastest first
  std::vector<CaseRecord> failed;    ///< the others that were to be measured
  std::vector<CaseRecord> left_out;  ///< by the model
  /// What measured[0] saves of the iteration with every tensor alone (wfbp); where measured[0] is
  /// wfbp, what measured[1] saves, then at most 0. Nothing when there is nothing to compare.
  std::optional<Difference> saved;
  /// By what part measured[1] is slower than measured[0].
  std::optional<Difference> runner_up_slower;
  std::vector<std::string> flags;  ///< that forbid to trust the numbers for a cluster
};

/// The cases are those of one set: one workload, number of ranks and compressor. `block` and `seed`
/// are those of the bootstrap. `one_host`: all ranks ran on this one, so that nothing went over a
/// network.
[[nodiscard]] Recommendation recommend(const std::vector<CaseRecord>& cases, std::size_t block,
                                       std::uint64_t seed, bool one_host);

/// Where the verdict's plan and its profile are.
struct RecommendationFiles {
  std::filesystem::path plan;
  std::filesystem::path profile;
  std::filesystem::path result;
};

/// Verdict, runner-up, error of the predictions, what not to trust, what to do next.
[[nodiscard]] std::string recommendation_text(const Recommendation& recommendation,
                                              const RecommendationFiles& files);
/// The same as data (schema mergewise/recommendation/1, see docs/recommend.md).
[[nodiscard]] nlohmann::json recommendation_json(const Recommendation& recommendation,
                                                 const RecommendationFiles& files);

}  // namespace mergewise
