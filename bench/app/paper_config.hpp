// SPDX-License-Identifier: Apache-2.0
// A paper to be reproduced, as configs/papers/*.yaml describe it: what it claims, and what its
// figures are computed from.
#pragma once

#include "bench/app/reproduction.hpp"
#include "bench/config/node.hpp"
#include "workloads/workload.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

/// The common part of a paper's file; the rest is read by the paper's own function.
class PaperConfig {
 public:
  /// Loads ID.yaml from the folder, in which there may be `keys` beside the common ones. Throws
  /// InputError with file, line and column.
  PaperConfig(const std::string& id, const std::filesystem::path& folder,
              const std::vector<std::string>& keys);

  [[nodiscard]] const Node& root() const { return root_; }
  /// Title, source and assumptions; nothing computed yet.
  [[nodiscard]] Reproduction begin() const;
  /// A claim of the file beside what we get. Throws InputError when the file has no such claim.
  [[nodiscard]] Claim claim(const std::string& key, const std::string& ours,
                            const std::string& difference) const;

  /// The claim as a number, for differences.
  [[nodiscard]] double claimed_value(const std::string& key) const;

 private:
  Node root_;
  std::string id_;
};

/// The networks of a paper's file on its `accelerator`: `networks` is a list of {model, batch},
/// maybe with image_size, and with `as` where the paper has a name of its own for it.
[[nodiscard]] std::vector<Workload> workloads_from(const Node& root,
                                                   const std::filesystem::path& accelerators);

/// What the papers' figures are computed with.
struct PaperInputs {
  std::filesystem::path papers;        ///< configs/papers
  std::filesystem::path clusters;      ///< configs/clusters
  std::filesystem::path accelerators;  ///< configs/accelerators
  /// Published measurements (published/*.csv, traces/*.json); nothing: parts that need them are
  /// not run.
  std::optional<std::filesystem::path> reference;

  /// A file of the reference, or nothing with the reason added to `paper.not_run`.
  [[nodiscard]] std::optional<std::filesystem::path> find(const std::string& file,
                                                          const std::string& part,
                                                          Reproduction& paper) const;
};

/// The ids of the papers, in the order of their dates.
[[nodiscard]] const std::vector<std::string>& paper_ids();

/// Each computes the figures of its paper. Throw InputError for a broken config or reference file.
[[nodiscard]] Reproduction reproduce_mg_wfbp(const PaperInputs& inputs);
[[nodiscard]] Reproduction reproduce_ddl_benchmarks(const PaperInputs& inputs);
[[nodiscard]] Reproduction reproduce_omgs(const PaperInputs& inputs);
[[nodiscard]] Reproduction reproduce_mergecomp(const PaperInputs& inputs);
/// By id; throws InputError for an unknown one.
[[nodiscard]] Reproduction reproduce(const std::string& id, const PaperInputs& inputs);

}  // namespace mergewise
