// SPDX-License-Identifier: Apache-2.0
// MergeComp: its compressors layer by layer against merged in two groups.
#include "bench/app/case_set.hpp"
#include "bench/app/paper_config.hpp"
#include "bench/app/planning.hpp"
#include "bench/app/sort_cost.hpp"
#include "bench/core/text.hpp"
#include "bench/cost/cluster.hpp"
#include "bench/cost/wire.hpp"
#include "bench/plan/timeline.hpp"
#include "bench/strategies/registry.hpp"
#include "workloads/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace mergewise {
namespace {

struct Machine {
  double kernel_ns = 0;
  double ns_per_byte = 0;  // of memory traffic
  double sort_ns = 0;
  double density = 1;
};

struct Compressor {
  std::string id;
  bool sorts = false;
  LinearCost compress;    // of a group
  LinearCost decompress;  // of one message of it
};

LinearCost cost_from(const Node& node, const Machine& machine) {
  node.allow_keys({"kernels", "traffic"});
  return {machine.kernel_ns * node.at("kernels").as_number(0, 1e4),
          machine.ns_per_byte * node.at("traffic").as_number(0, 1e4)};
}

std::vector<Compressor> compressors_from(const Node& list, const Machine& machine) {
  std::vector<Compressor> compressors;
  for (const Node& node : list.as_list()) {
    node.allow_keys({"id", "sorts", "compress", "decompress"});
    const auto sorts = node.find("sorts");
    compressors.push_back({node.at("id").as_string(), sorts && sorts->as_bool(),
                           cost_from(node.at("compress"), machine),
                           cost_from(node.at("decompress"), machine)});
  }
  return compressors;
}

struct Outcome {
  Nanoseconds compute = 0;
  Nanoseconds layer_wise = 0;
  Nanoseconds merged = 0;
  std::size_t groups = 0;
  std::optional<Nanoseconds> optimal;  // nothing where it is not proven in time
  Bytes wire = 0;                      // of all gradients in one group
  [[nodiscard]] double gain() const { return layer_wise / merged; }
  [[nodiscard]] double scaling() const { return compute / merged; }
};

Outcome outcome_of(const Workload& workload, const Compressor& compressor, const Machine& machine,
                   const CollectiveCosts& costs, int ranks) {
  Profile profile = make_profile(workload, ranks, costs);
  const WireFormat wire({.id = compressor.id, .density = machine.density}, 4);
  // Each gathered message is decompressed by itself; sums arrive as one.
  const double messages = wire.collective() == Collective::kAllGather ? ranks : 1;
  profile.compressor = compressor.id;
  profile.density = machine.density;
  // MergeComp's code selects from all elements alike.
  if (compressor.id == "dgc") profile.compressor_options.set("vectors", std::string("sparse"));
  profile.compressors[compressor.id] = {
      cost_with_sort(compressor.compress, compressor.sorts ? machine.sort_ns : 0),
      LinearCost{messages * compressor.decompress.a_ns,
                 messages * compressor.decompress.b_ns_per_byte}};
  const TimeModel model(profile);
  const MergePlan merged = make_strategy("mergecomp")->plan(model, {});
  return {workload.forward_ns + workload.backward_ns(),
          iteration_by("wfbp", model),
          predict_iteration(model, merged),
          merged.groups.size(),
          optimal_iteration(model),
          model.wire_bytes(0, model.tensor_count())};
}

/// One case: a compressor for a network on so many GPUs of a cluster.
struct Case {
  std::string cluster;
  int ranks = 0;
  std::string network;
  std::string compressor;
  Outcome outcome;
  Nanoseconds uncompressed = 0;  // MG-WFBP without compression
  [[nodiscard]] std::string text() const {
    return fmt::format("{}, {}, {} GPUs of {}", compressor, network, ranks, cluster);
  }
};

std::vector<Case> all_cases(const Node& root, const PaperInputs& inputs) {
  const Machine machine{1e3 * root.at("kernel_us").as_number(0, 1e6),
                        1 / root.at("memory_gb_per_s").as_number(1e-3, 1e6),
                        1e9 * root.at("sort_s").as_number(0, 1),
                        root.at("density").as_number(1e-9, 1)};
  const std::vector<Compressor> compressors = compressors_from(root.at("compressors"), machine);
  const std::vector<Workload> networks = workloads_from(root, inputs.accelerators);
  std::vector<Case> cases;
  for (const Node& id : root.at("clusters").as_list()) {
    const Cluster cluster = load_cluster(id.as_string(), inputs.clusters);
    for (const Node& count : root.at("ranks").as_list()) {
      const auto ranks = static_cast<int>(count.as_integer(2, 4096));
      const CollectiveCosts costs = costs_of(cluster, ranks);
      for (const Workload& network : networks) {
        const TimeModel dense(make_profile(network, ranks, costs));
        const Nanoseconds uncompressed = iteration_by("mg_wfbp", dense);
        for (const Compressor& compressor : compressors) {
          cases.push_back({cluster.name, ranks, network.name, compressor.id,
                           outcome_of(network, compressor, machine, costs, ranks), uncompressed});
        }
      }
    }
  }
  return cases;
}

FigureTable detail_table(const std::vector<Case>& cases) {
  FigureTable table{"Compression layer by layer and merged, each case",
                    {{"box", "", 0},
                     {"GPUs", "", 0},
                     {"network", "", 0},
                     {"compressor", "", 0},
                     {"layer by layer", "ms", 1},
                     {"merged", "ms", 1},
                     {"groups", "", 0},
                     {"optimal", "ms", 1},
                     {"faster", "x", 2},
                     {"scaling", "%", 1},
                     {"message", "MB", 2},
                     {"uncompressed", "ms", 1}},
                    {}};
  table.detail = true;
  for (const Case& entry : cases) {
    const Outcome& outcome = entry.outcome;
    table.rows.push_back({entry.cluster, static_cast<double>(entry.ranks), entry.network,
                          entry.compressor, outcome.layer_wise / 1e6, outcome.merged / 1e6,
                          static_cast<double>(outcome.groups),
                          outcome.optimal ? Cell(*outcome.optimal / 1e6) : Cell(), outcome.gain(),
                          100 * outcome.scaling(), static_cast<double>(outcome.wire) / 1e6,
                          entry.uncompressed / 1e6});
  }
  return table;
}

/// The cases of most GPUs, a row for each network and compressor, the boxes side by side.
FigureTable summary_table(const std::vector<Case>& cases) {
  FigureTable table{"", {{"network", "", 0}, {"compressor", "", 0}, {"message", "MB", 2}}, {}};
  const int most = std::max_element(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
                     return a.ranks < b.ranks;
                   })->ranks;
  table.title = fmt::format("Merged against layer by layer, {} GPUs", most);
  std::vector<std::string> boxes;
  for (const Case& entry : cases) {
    if (entry.ranks != most) continue;
    if (std::find(boxes.begin(), boxes.end(), entry.cluster) == boxes.end()) {
      boxes.push_back(entry.cluster);
      for (const char* name : {"layer by layer", "merged"}) {
        table.columns.push_back({fmt::format("{}: {}", entry.cluster, name), "ms", 1});
      }
      table.columns.push_back({"faster", "x", 2});
      table.columns.push_back({"scaling", "%", 1});
    }
    auto row = std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& cells) {
      return cells[0] == Cell(entry.network) && cells[1] == Cell(entry.compressor);
    });
    if (row == table.rows.end()) {
      table.rows.push_back(
          {entry.network, entry.compressor, static_cast<double>(entry.outcome.wire) / 1e6});
      row = std::prev(table.rows.end());
    }
    row->insert(row->end(), {entry.outcome.layer_wise / 1e6, entry.outcome.merged / 1e6,
                             entry.outcome.gain(), 100 * entry.outcome.scaling()});
  }
  return table;
}

const Case& find_case(const std::vector<Case>& cases, const Node& published, const Node& id) {
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& entry) {
    return entry.network == published.at("network").as_string() &&
           entry.cluster == published.at("cluster").as_string() &&
           entry.ranks == published.at("ranks").as_integer(2) && entry.compressor == id.as_string();
  });
  if (found == cases.end()) {
    id.fail(fmt::format(
        "none of the cases that are computed is {} on this network, cluster and number of ranks: "
        "expected one of `compressors`, `networks`, `clusters` and `ranks`",
        excerpt(id.as_string())));
  }
  return *found;
}

/// The network that scales best with one compressor on one box, all its GPUs in use.
const Case& best_scaling(const std::vector<Case>& cases, const Node& of) {
  of.allow_keys({"compressor", "cluster"});
  const Case* best = nullptr;
  for (const Case& entry : cases) {
    if (entry.compressor != of.at("compressor").as_string() ||
        entry.cluster != of.at("cluster").as_string()) {
      continue;
    }
    if (best == nullptr || entry.ranks > best->ranks ||
        (entry.ranks == best->ranks && entry.outcome.scaling() > best->outcome.scaling())) {
      best = &entry;
    }
  }
  if (best == nullptr) {
    of.fail("no case is computed, expected one of `compressors` and one of `clusters`");
  }
  return *best;
}

/// Published scaling factors of one network on one box beside ours; `claim` gets our range.
FigureTable published_table(const Node& node, const std::vector<Case>& cases, Claim& claim) {
  node.allow_keys({"network", "cluster", "ranks", "uncompressed", "scaling"});
  const std::string network = node.at("network").as_string();
  const std::string cluster = node.at("cluster").as_string();
  const auto ranks = node.at("ranks").as_integer(2);
  FigureTable table{fmt::format("Scaling factors of {} on {} GPUs of {}, published (read off a "
                                "figure) and ours",
                                network, ranks, cluster),
                    {{"compressor", "", 0},
                     {"published: layer by layer", "%", 0},
                     {"ours", "%", 0},
                     {"published: merged", "%", 0},
                     {"ours", "%", 0}},
                    {}};
  double low = 1e300;
  double high = 0;
  double uncompressed = 0;
  for (const Node& row : node.at("scaling").as_list()) {
    row.allow_keys({"id", "layer_wise", "merged"});
    const Case& entry = find_case(cases, node, row.at("id"));
    const double merged = 100 * entry.outcome.scaling();
    low = std::min(low, merged);
    high = std::max(high, merged);
    uncompressed = 100 * entry.outcome.compute / entry.uncompressed;
    table.rows.push_back({entry.compressor, row.at("layer_wise").as_number(0, 100),
                          100 * entry.outcome.compute / entry.outcome.layer_wise,
                          row.at("merged").as_number(0, 100), merged});
  }
  if (table.rows.empty()) node.at("scaling").fail("the list is empty, expected one row at least");
  table.rows.push_back(
      {"none", node.at("uncompressed").as_number(0, 100), uncompressed, Cell(), Cell()});
  claim.ours = fmt::format("{:.0f} to {:.0f} %, uncompressed {:.0f} %", low, high, uncompressed);
  claim.difference = "the links compared are not the same";
  return table;
}

}  // namespace

Reproduction reproduce_mergecomp(const PaperInputs& inputs) {
  const PaperConfig config(
      "mergecomp", inputs.papers,
      {"accelerator", "kernel_us", "memory_gb_per_s", "sort_s", "density", "clusters", "ranks",
       "networks", "published", "scaling_of", "compressors"});
  Reproduction paper = config.begin();
  const std::vector<Case> cases = all_cases(config.root(), inputs);
  if (cases.empty()) config.root().fail("there are no cases, expected one at least");
  const auto count = [&](auto condition) {
    return std::count_if(cases.begin(), cases.end(), condition);
  };
  FigureTable summary = summary_table(cases);
  summary.notes = {
      fmt::format("Merged compression is slower than layer by layer in {} of {} cases, and slower "
                  "than MG-WFBP without compression in {}.",
                  count([](const Case& c) { return c.outcome.gain() < 1; }), cases.size(),
                  count([](const Case& c) { return c.outcome.merged > c.uncompressed; }))};
  Claim pcie = config.claim("pcie", "", "");
  FigureTable published = published_table(config.root().at("published"), cases, pcie);
  paper.tables = {std::move(published), std::move(summary), detail_table(cases)};
  const Case& fastest = *std::max_element(
      cases.begin(), cases.end(),
      [](const Case& a, const Case& b) { return a.outcome.gain() < b.outcome.gain(); });
  const Case& closest = best_scaling(cases, config.root().at("scaling_of"));
  paper.claims = {
      config.claim(
          "speed_up",
          fmt::format("up to {:.2f} times ({})", fastest.outcome.gain(), fastest.text()),
          fmt::format("{:+.0f} %",
                      100 * (fastest.outcome.gain() / config.claimed_value("speed_up") - 1))),
      config.claim(
          "scaling",
          fmt::format("up to {:.1f} % ({})", 100 * closest.outcome.scaling(), closest.text()),
          fmt::format("{:+.1f} points",
                      100 * closest.outcome.scaling() - config.claimed_value("scaling"))),
      std::move(pcie)};
  return paper;
}

}  // namespace mergewise
