// SPDX-License-Identifier: Apache-2.0
// MG-WFBP: its table of costs, its simulations to 2048 GPUs, and GoogLeNet as its authors measured
// it.
#include "bench/app/case_set.hpp"
#include "bench/app/paper_config.hpp"
#include "bench/app/planning.hpp"
#include "bench/app/rate_prediction.hpp"
#include "bench/core/median.hpp"
#include "bench/core/text.hpp"
#include "bench/cost/algorithm.hpp"
#include "bench/cost/cluster.hpp"
#include "workloads/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace mergewise {
namespace {

constexpr const char* kBest = "best";
constexpr std::int64_t kMostRanks = 4096;
constexpr std::int64_t kMostParameters = std::int64_t{1} << 40;  // of a layer

std::vector<int> ranks_of(const Node& list) {
  std::vector<int> ranks;
  for (const Node& entry : list.as_list()) {
    ranks.push_back(static_cast<int>(entry.as_integer(2, kMostRanks)));
  }
  return ranks;
}

FigureTable cost_table(const Node& node, const std::filesystem::path& clusters, Claim& claim) {
  node.allow_keys({"cluster", "ranks"});
  const Cluster cluster = load_cluster(node.at("cluster").as_string(), clusters);
  FigureTable table{fmt::format("Costs of an all-reduce by algorithm, on {}", cluster.name),
                    {{"algorithm", "", 0},
                     {"ranks", "", 0},
                     {"a", "us", 1},
                     {"b", "ns/B", 3},
                     {"1 MiB", "ms", 2},
                     {"100 MiB", "ms", 1},
                     {"b / bound", "", 2}},
                    {}};
  for (const int ranks : ranks_of(node.at("ranks"))) {
    const double bound = 2.0 * (ranks - 1) / ranks * cluster.network.beta_ns_per_byte;
    for (const std::string& name : algorithm_names()) {
      const LinearCost line = all_reduce_line(algorithm_from(name), cluster.network, ranks);
      const CostModel cost(line);
      table.rows.push_back({name, static_cast<double>(ranks), line.a_ns / 1e3, line.b_ns_per_byte,
                            cost(1 << 20) / 1e6, cost(100 << 20) / 1e6,
                            line.b_ns_per_byte / bound});
      if (algorithm_from(name) == Algorithm::kDoubleTreePublished) {
        claim.ours = fmt::format("at {} ranks {:.2f} times what the wire can carry at least", ranks,
                                 line.b_ns_per_byte / bound);
      }
    }
  }
  table.notes = {fmt::format("alpha {:.1f} us, beta {:.2f} ns/B, gamma {:.2f} ns/B ({}).",
                             cluster.network.alpha_ns / 1e3, cluster.network.beta_ns_per_byte,
                             cluster.network.gamma_ns_per_byte, cluster.source)};
  claim.difference = "below the bandwidth bound: not possible as published";
  return table;
}

struct Simulated {
  std::string cluster;
  std::string algorithm;
  int ranks = 0;
  std::string network;
  Nanoseconds compute = 0;
  Nanoseconds wfbp = 0;
  Nanoseconds single = 0;
  Nanoseconds mg_wfbp = 0;
  Nanoseconds optimal = 0;
};

CollectiveCosts costs_by(const std::string& algorithm, const Cluster& cluster, int ranks) {
  if (algorithm == kBest) return costs_of(cluster, ranks);
  CollectiveCosts costs;
  costs.all_reduce.emplace();
  costs.all_reduce->isolated = all_reduce_line(algorithm_from(algorithm), cluster.network, ranks);
  return costs;
}

Simulated simulate(const Workload& workload, const std::string& algorithm, const Cluster& cluster,
                   int ranks) {
  const TimeModel model(make_profile(workload, ranks, costs_by(algorithm, cluster, ranks)));
  return {cluster.name,
          algorithm,
          ranks,
          workload.name,
          workload.forward_ns + workload.backward_ns(),
          iteration_by("wfbp", model),
          iteration_by("single", model),
          iteration_by("mg_wfbp", model),
          iteration_by("optimal", model)};
}

std::vector<Simulated> simulate_all(const PaperConfig& config, const PaperInputs& inputs) {
  const Node& root = config.root();
  const std::vector<Workload> workloads = workloads_from(root, inputs.accelerators);
  std::vector<Simulated> results;
  for (const Node& id : root.at("clusters").as_list()) {
    const Cluster cluster = load_cluster(id.as_string(), inputs.clusters);
    for (const Node& algorithm : root.at("algorithms").as_list()) {
      for (const int ranks : ranks_of(root.at("ranks"))) {
        for (const Workload& workload : workloads) {
          results.push_back(simulate(workload, algorithm.as_string(), cluster, ranks));
        }
      }
    }
  }
  return results;
}

FigureTable detail_table(const std::vector<Simulated>& results) {
  FigureTable table{"Simulated iterations, each case",
                    {{"cluster", "", 0},
                     {"algorithm", "", 0},
                     {"GPUs", "", 0},
                     {"network", "", 0},
                     {"compute", "ms", 1},
                     {"WFBP", "ms", 1},
                     {"SyncEASGD", "ms", 1},
                     {"MG-WFBP", "ms", 1},
                     {"optimal", "ms", 1}},
                    {}};
  table.detail = true;
  for (const Simulated& result : results) {
    table.rows.push_back({result.cluster, result.algorithm, static_cast<double>(result.ranks),
                          result.network, result.compute / 1e6, result.wfbp / 1e6,
                          result.single / 1e6, result.mg_wfbp / 1e6, result.optimal / 1e6});
  }
  return table;
}

template <typename Value>
double middle(const std::vector<const Simulated*>& results, Value value) {
  std::vector<double> values;
  for (const Simulated* result : results) values.push_back(value(*result));
  return median(values);
}

FigureTable summary_table(const std::vector<Simulated>& results) {
  FigureTable table{"Simulated: MG-WFBP against both baselines, medians over the networks",
                    {{"cluster", "", 0},
                     {"algorithm", "", 0},
                     {"GPUs", "", 0},
                     {"over WFBP", "x", 2},
                     {"over SyncEASGD", "x", 2},
                     {"over the better", "x", 2},
                     {"above optimal", "%", 2},
                     {"scaling WFBP", "%", 0},
                     {"scaling SyncEASGD", "%", 0},
                     {"scaling MG-WFBP", "%", 0}},
                    {}};
  std::vector<const Simulated*> row;
  for (std::size_t i = 0; i < results.size(); ++i) {
    row.push_back(&results[i]);
    const bool last = i + 1 == results.size() || results[i + 1].ranks != results[i].ranks ||
                      results[i + 1].algorithm != results[i].algorithm ||
                      results[i + 1].cluster != results[i].cluster;
    if (!last) continue;
    const auto scaling = [&](Nanoseconds Simulated::*time) {
      return middle(row, [&](const Simulated& r) { return 100 * r.compute / (r.*time); });
    };
    table.rows.push_back(
        {row.front()->cluster, row.front()->algorithm, static_cast<double>(row.front()->ranks),
         middle(row, [](const Simulated& r) { return r.wfbp / r.mg_wfbp; }),
         middle(row, [](const Simulated& r) { return r.single / r.mg_wfbp; }),
         middle(row, [](const Simulated& r) { return std::min(r.wfbp, r.single) / r.mg_wfbp; }),
         middle(row, [](const Simulated& r) { return 100 * (r.mg_wfbp / r.optimal - 1); }),
         scaling(&Simulated::wfbp), scaling(&Simulated::single), scaling(&Simulated::mg_wfbp)});
    row.clear();
  }
  return table;
}

void add_scaling(const PaperConfig& config, const PaperInputs& inputs, Reproduction& paper) {
  const std::vector<Simulated> results = simulate_all(config, inputs);
  double most = 0;
  double least = 1e300;
  double gap = 0;
  for (const Simulated& result : results) {
    const double gain = std::min(result.wfbp, result.single) / result.mg_wfbp;
    most = std::max(most, gain);
    least = std::min(least, gain);
    gap = std::max(gap, result.mg_wfbp / result.optimal - 1);
  }
  paper.tables.push_back(summary_table(results));
  paper.tables.push_back(detail_table(results));
  paper.claims.push_back(
      config.claim("scaling",
                   fmt::format("{:.2f} to {:.2f} times the better of both, over {} cases", least,
                               most, results.size()),
                   fmt::format("at most {:.1f} % above the optimum", 100 * gap)));
}

// A trace lists layers in definition order, the last of which is ready first.
Profile trace_profile(const std::filesystem::path& file) {
  const Node root = parse_file(file, kDataLimits);
  Profile profile;
  profile.name = root.at("name").as_string();
  const std::vector<Node>& layers = root.at("layers").as_list();
  double bytes = 0;
  Nanoseconds backward = 0;
  for (std::size_t i = layers.size(); i-- > 0;) {
    ProfileTensor tensor;
    tensor.name = fmt::format("layer {}", i);
    tensor.bytes = 4 * layers[i].at("parameters").as_integer(0, kMostParameters);
    tensor.backward_ns = 1e3 * layers[i].at("backward_us").as_number(0, 1e12);
    bytes += static_cast<double>(tensor.bytes);
    backward += tensor.backward_ns;
    profile.tensors.push_back(std::move(tensor));
  }
  if (bytes == 0) root.at("layers").fail("no layer has parameters, expected one at least");
  if (backward == 0) root.at("layers").fail("no layer takes time, expected one at least");
  return profile;
}

/// "GoogLeNet" -> "googlenet".
std::string trace_name(const std::string& model) {
  const auto id = model_id_of(model, model_ids());
  return fmt::format("traces/{}_k80.json", id ? *id : model);
}

void add_k80(const PaperConfig& config, const PaperInputs& inputs, Reproduction& paper) {
  const auto table = find_published_rates(inputs, "published/bcaffe_2018_k80_10gbe.csv",
                                          "GoogLeNet on K80", paper);
  if (!table) return;
  std::vector<RatePrediction> predictions;
  for (const PublishedRates& published : table->cases) {
    const std::filesystem::path trace = *inputs.reference / trace_name(published.model);
    if (!std::filesystem::exists(trace)) {
      predictions.push_back(refuse_rate(published, "no trace of it on a K80"));
      continue;
    }
    predictions.push_back(predict_rate(published, trace_profile(trace), std::nullopt, 0));
  }
  for (FigureTable& figures : tables_of(predictions, "K80, one a node, 10 GbE")) {
    paper.tables.push_back(std::move(figures));
  }
  paper.claims.push_back(error_claim(config, "k80", predictions, WhichPlan::kFitted));
}

}  // namespace

Reproduction reproduce_mg_wfbp(const PaperInputs& inputs) {
  const PaperConfig config(
      "mg_wfbp", inputs.papers,
      {"accelerator", "networks", "clusters", "ranks", "algorithms", "cost_table"});
  Reproduction paper = config.begin();
  Claim costs = config.claim("costs", "", "");
  paper.tables.push_back(cost_table(config.root().at("cost_table"), inputs.clusters, costs));
  paper.claims.push_back(std::move(costs));
  add_scaling(config, inputs, paper);
  add_k80(config, inputs, paper);
  return paper;
}

}  // namespace mergewise
