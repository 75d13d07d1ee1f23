// SPDX-License-Identifier: Apache-2.0
// Published throughputs, from a CSV that somebody else made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

/// What a table says about one network on one interconnect with a number of GPUs.
struct PublishedRates {
  struct Rate {
    double samples_per_s = 0;  ///< of all GPUs together, > 0
    std::optional<double> stddev;
  };

  std::string model;  ///< as the table writes it
  std::int64_t batch = 1;
  std::string network;  ///< "" where the table has one only
  int gpus = 1;         ///< > 1
  /// samples/s of one GPU, which does not communicate; 0 where the table has no such row. That of
  /// `single`, `wfbp` or `mg_wfbp` on this interconnect, else on the first other one that has it,
  /// else of a method that is not modelled.
  double one_gpu = 0;
  std::string one_gpu_from{};  ///< "BSP-A2A on IB" where it is not this interconnect's; else ""
  /// By our strategy ids, where the table has the row.
  std::optional<Rate> single;
  std::optional<Rate> wfbp;
  std::optional<Rate> mg_wfbp;
};

struct PublishedTable {
  std::vector<PublishedRates> cases;       ///< in the order of their first modelled row
  std::vector<std::string> other_methods;  ///< names of methods that are not modelled here
};

/// Reads a table with the columns model, batch_size, method, gpus or nodes, samples_per_s, and
/// maybe network and stddev, in any order; fields do not contain commas. Methods are ours ("wfbp")
/// or those of ddl-benchmarks ("BSP-A2A", "WFBP-A2A", "MG-WFBP"). Throws InputError with file, line
/// and column for everything else, and for two rows of one case and method (one GPU is a case too).
[[nodiscard]] PublishedTable load_published_rates(const std::filesystem::path& file);

/// Our id of a network that a paper calls "ResNet-50" or "BERT-Base": the same letters and digits;
/// nothing when there is none.
[[nodiscard]] std::optional<std::string> model_id_of(const std::string& published,
                                                     const std::vector<std::string>& ids);

}  // namespace mergewise
