// SPDX-License-Identifier: Apache-2.0
// Published throughputs on V100s: MG-WFBP predicted from one group and from layer by layer.
#include "bench/app/case_set.hpp"
#include "bench/app/paper_config.hpp"
#include "bench/app/rate_prediction.hpp"
#include "bench/core/text.hpp"
#include "bench/cost/cluster.hpp"
#include "workloads/workload.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace mergewise {
namespace {

/// The costs that the authors' code planned with, by the table's name of the interconnect.
using AuthorsCosts = std::map<std::string, Cluster>;

AuthorsCosts authors_costs(const Node& list, const std::filesystem::path& clusters) {
  AuthorsCosts costs;
  for (const Node& entry : list.as_list()) {
    entry.allow_keys({"interconnect", "cluster"});
    costs[entry.at("interconnect").as_string()] =
        load_cluster(entry.at("cluster").as_string(), clusters);
  }
  return costs;
}

std::optional<LinearCost> line_of(const AuthorsCosts& costs, const PublishedRates& published) {
  const auto cluster = costs.find(published.network);
  if (cluster == costs.end()) return std::nullopt;
  const auto line = cluster->second.all_reduce.find(published.gpus);
  if (line == cluster->second.all_reduce.end()) return std::nullopt;
  return line->second;
}

class Shares {
 public:
  Shares(const PaperConfig& config, const std::filesystem::path& accelerators)
      : accelerator_(load_accelerator(config.root().at("accelerator").as_string(), accelerators)),
        sequence_length_(config.root().at("sequence_length").as_integer(1)) {}

  /// The backward shares of one of our networks at a batch size.
  [[nodiscard]] Profile of(const std::string& id, std::int64_t batch) const {
    ModelArguments arguments;
    if (id.starts_with("bert")) arguments.sequence_length = sequence_length_;
    return times_of(make_workload(build_model(id, arguments), batch, accelerator_));
  }

 private:
  Accelerator accelerator_;
  std::int64_t sequence_length_;
};

}  // namespace

Reproduction reproduce_ddl_benchmarks(const PaperInputs& inputs) {
  const PaperConfig config("ddl_benchmarks", inputs.papers,
                           {"accelerator", "sequence_length", "min_elements", "authors_costs"});
  Reproduction paper = config.begin();
  const auto table = find_published_rates(inputs, "published/ddl_benchmarks_2020.csv",
                                          "published throughputs on V100s", paper);
  if (!table) return paper;
  const AuthorsCosts costs = authors_costs(config.root().at("authors_costs"), inputs.clusters);
  const std::int64_t min_elements = config.root().at("min_elements").as_integer(0);
  const Shares shares(config, inputs.accelerators);

  std::vector<RatePrediction> predictions;
  std::vector<std::string> without_costs;
  std::set<std::string> named;  // each of them once
  for (const PublishedRates& published : table->cases) {
    const auto id = model_id_of(published.model, model_ids());
    if (!id) {
      predictions.push_back(refuse_rate(published, "not one of our networks"));
      continue;
    }
    const auto authors = line_of(costs, published);
    const std::string place = fmt::format("{} {} GPUs", published.network, published.gpus);
    if (!authors && named.insert(place).second) without_costs.push_back(place);
    predictions.push_back(
        predict_rate(published, shares.of(*id, published.batch), authors, min_elements));
  }
  paper.tables = tables_of(predictions, "V100, 4 a node");
  auto& notes = paper.tables.back().notes;
  if (!table->other_methods.empty()) {
    notes.push_back(fmt::format("Not modelled here: {}.", join(table->other_methods)));
  }
  if (!without_costs.empty()) {
    notes.push_back(fmt::format("The authors' code has no costs for {}.", join(without_costs)));
  }
  paper.claims = {error_claim(config, "authors_plan", predictions, WhichPlan::kAuthors),
                  error_claim(config, "fitted_plan", predictions, WhichPlan::kFitted)};
  return paper;
}

}  // namespace mergewise
