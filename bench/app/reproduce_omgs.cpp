// SPDX-License-Identifier: Apache-2.0
// OMGS-SGD: merged top-k sparsification against layer-wise and against all gradients at once.
#include "bench/app/case_set.hpp"
#include "bench/app/paper_config.hpp"
#include "bench/app/planning.hpp"
#include "bench/app/sort_cost.hpp"
#include "bench/cost/cluster.hpp"
#include "bench/plan/timeline.hpp"
#include "bench/strategies/registry.hpp"
#include "workloads/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace mergewise {
namespace {

// Beyond it the optimum under such tables of costs takes seconds, or is not proven.
constexpr std::size_t kMostTensorsForOptimum = 200;

struct Gpu {
  std::string name;
  double slower = 1;  // than the accelerator whose layer times are taken
  double sort_ns = 0;
};

struct Outcome {
  Nanoseconds layer_wise = 0;
  Nanoseconds single = 0;
  Nanoseconds omgs = 0;
  std::optional<Nanoseconds> optimal;  // nothing where it would take too long
  std::size_t groups = 0;
};

Gpu gpu_from(const Node& node) {
  node.allow_keys({"name", "slower", "sort_s"});
  return {node.at("name").as_string(), node.at("slower").as_number(1e-3, 1e3),
          1e9 * node.at("sort_s").as_number(0, 1)};
}

Profile profile_on(const Gpu& device, Profile profile, double density) {
  profile.forward_ns *= device.slower;
  for (ProfileTensor& tensor : profile.tensors) {
    tensor.backward_ns *= device.slower;
    if (tensor.forward_ns) *tensor.forward_ns *= device.slower;
  }
  profile.compressor = "topk";
  profile.density = density;
  profile.compressors["topk"] = {cost_with_sort({}, device.sort_ns), CostModel()};
  return profile;
}

Outcome outcome_of(const Profile& profile) {
  const TimeModel model(profile);
  const MergePlan plan = make_strategy("omgs")->plan(model, {});
  const bool small = model.tensor_count() <= kMostTensorsForOptimum;
  return {iteration_by("wfbp", model), iteration_by("single", model),
          predict_iteration(model, plan), small ? optimal_iteration(model) : std::nullopt,
          plan.groups.size()};
}

/// The largest and the smallest gain over a baseline.
class Range {
 public:
  void add(double gain) {
    low_ = std::min(low_, gain);
    high_ = std::max(high_, gain);
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{:.0f} to {:.0f} % less time", 100 * low_, 100 * high_);
  }
  [[nodiscard]] double high() const { return high_; }

 private:
  double low_ = 1;
  double high_ = -1;
};

/// The gains over all gradients at once, by the cluster whose costs are charged.
class OverOnce {
 public:
  void add(const std::string& cluster, const Outcome& outcome) {
    omgs_[cluster].add(1 - outcome.omgs / outcome.single);
    if (outcome.optimal) optimal_[cluster].add(1 - *outcome.optimal / outcome.single);
  }
  void add_notes(FigureTable& table) const {
    for (const auto& [cluster, gains] : omgs_) {
      const auto optimal = optimal_.find(cluster);
      table.notes.push_back(fmt::format(
          "Against all at once, with the costs of {}: {}{}.", cluster, gains.text(),
          optimal == optimal_.end() ? ""
                                    : "; the optimum, where computed, " + optimal->second.text()));
    }
  }

 private:
  std::map<std::string, Range> omgs_;
  std::map<std::string, Range> optimal_;
};

std::string against_claim(double gain, double percent) {
  return fmt::format("{:+.0f} points at the most", 100 * gain - percent);
}

}  // namespace

Reproduction reproduce_omgs(const PaperInputs& inputs) {
  const PaperConfig config("omgs", inputs.papers,
                           {"density", "ranks", "accelerator", "clusters", "devices", "networks"});
  const Node& root = config.root();
  Reproduction paper = config.begin();
  const std::vector<Workload> workloads = workloads_from(root, inputs.accelerators);
  const double density = root.at("density").as_number(1e-9, 1);
  const auto ranks = static_cast<int>(root.at("ranks").as_integer(2, 4096));
  std::vector<std::pair<std::string, CollectiveCosts>> clusters;
  for (const Node& id : root.at("clusters").as_list()) {
    clusters.emplace_back(id.as_string(),
                          costs_of(load_cluster(id.as_string(), inputs.clusters), ranks));
  }
  FigureTable table{fmt::format("Top-k of density {}, {} GPUs", density, ranks),
                    {{"device", "", 0},
                     {"all-gather", "", 0},
                     {"network", "", 0},
                     {"layer-wise", "ms", 0},
                     {"all at once", "ms", 0},
                     {"OMGS-SGD", "ms", 0},
                     {"groups", "", 0},
                     {"optimal", "ms", 0},
                     {"less than layer-wise", "%", 1},
                     {"less than at once", "%", 1}},
                    {}};
  OverOnce over_once;
  Range over_layers;
  Range over_single;
  Range over_better;
  for (const Node& node : root.at("devices").as_list()) {
    const Gpu device = gpu_from(node);
    for (const auto& [cluster, costs] : clusters) {
      for (const Workload& workload : workloads) {
        const Outcome outcome =
            outcome_of(profile_on(device, make_profile(workload, ranks, costs), density));
        const double layers = 1 - outcome.omgs / outcome.layer_wise;
        const double single = 1 - outcome.omgs / outcome.single;
        over_layers.add(layers);
        over_single.add(single);
        over_once.add(cluster, outcome);
        over_better.add(std::min(layers, single));
        table.rows.push_back(
            {device.name, cluster, workload.name, outcome.layer_wise / 1e6, outcome.single / 1e6,
             outcome.omgs / 1e6, static_cast<double>(outcome.groups),
             outcome.optimal ? Cell(*outcome.optimal / 1e6) : Cell(), 100 * layers, 100 * single});
      }
    }
  }
  table.notes = {fmt::format("Against the better of both: {}.", over_better.text()),
                 fmt::format("optimal: not computed beyond {} tensors.", kMostTensorsForOptimum)};
  over_once.add_notes(table);
  paper.tables.push_back(std::move(table));
  paper.claims.push_back(
      config.claim("layer_wise", over_layers.text(),
                   against_claim(over_layers.high(), config.claimed_value("layer_wise"))));
  paper.claims.push_back(
      config.claim("single", over_single.text(),
                   against_claim(over_single.high(), config.claimed_value("single"))));
  return paper;
}

}  // namespace mergewise
