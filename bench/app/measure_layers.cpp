// SPDX-License-Identifier: Apache-2.0
#include "bench/app/measure_layers.hpp"

#include "bench/app/table.hpp"
#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <vector>

namespace mergewise {
namespace {

// One layer, or all layers of a kind.
struct Row {
  std::string name;
  LayerKind kind = LayerKind::kOther;
  LayerTime time;
  // Of both passes; a layer has one of them.
  double flops = 0;
  double bytes = 0;
  Nanoseconds flops_ns = 0;  // the time that they took
  Nanoseconds bytes_ns = 0;

  void add(const Row& other) {
    time.forward_ns += other.time.forward_ns;
    time.backward_ns += other.time.backward_ns;
    flops += other.flops;
    bytes += other.bytes;
    flops_ns += other.flops_ns;
    bytes_ns += other.bytes_ns;
  }
  // 0 where there are none.
  [[nodiscard]] double flops_per_s() const { return flops_ns > 0 ? flops / flops_ns * 1e9 : 0; }
  [[nodiscard]] double bytes_per_s() const { return bytes_ns > 0 ? bytes / bytes_ns * 1e9 : 0; }
};

std::vector<Row> rows_of(const Workload& workload, const LayerMeasurement& measured) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    const LayerWork& work = workload.layers[i];
    Row& row = rows.emplace_back();
    row.name = work.layer;
    row.kind = work.kind;
    row.time = measured.layers.at(i);
    const Nanoseconds both = row.time.forward_ns + row.time.backward_ns;
    row.flops = work.forward_flops() + work.backward_flops();
    if (row.flops > 0) {
      row.flops_ns = both;
    } else {
      row.bytes =
          static_cast<double>(work.forward_bytes) + static_cast<double>(work.backward_bytes);
      row.bytes_ns = row.bytes > 0 ? both : 0;
    }
  }
  return rows;
}

std::vector<Row> sums_by_kind(const std::vector<Row>& rows) {
  std::map<LayerKind, Row> kinds;
  for (const Row& row : rows) kinds[row.kind].add(row);
  std::vector<Row> sums;
  for (auto& [kind, sum] : kinds) {
    sum.kind = kind;
    sum.name = name_of(kind);
    sums.push_back(sum);
  }
  return sums;
}

std::string milliseconds(Nanoseconds time) { return fmt::format("{:.3f}", time / 1e6); }

std::vector<std::string> cells(const Row& row, const LayerMeasurement& measured) {
  std::vector<std::string> cells{row.name, name_of(row.kind), milliseconds(row.time.forward_ns),
                                 milliseconds(row.time.backward_ns)};
  const auto add_rate = [&](double rate, double ceiling) {
    cells.push_back(rate > 0 ? fmt::format("{:.1f}", rate / 1e9) : "");
    cells.push_back(rate > 0 ? fmt::format("{:.0f} %", 100 * rate / ceiling) : "");
  };
  add_rate(row.flops_per_s(), measured.gemm_flops_per_s);
  add_rate(row.bytes_per_s(), measured.copy_bytes_per_s);
  return cells;
}

nlohmann::json number_or_null(double number) {
  return number > 0 ? nlohmann::json(number) : nlohmann::json();
}

nlohmann::json to_json(const LayerTime& time) {
  return {{"forward_ns", time.forward_ns}, {"backward_ns", time.backward_ns}};
}

nlohmann::json to_json(const Row& row, const LayerMeasurement& measured) {
  nlohmann::json json = to_json(row.time);
  json.update({{"name", row.name},
               {"kind", name_of(row.kind)},
               {"flops", number_or_null(row.flops)},
               {"flops_per_s", number_or_null(row.flops_per_s())},
               {"of_gemm_ceiling", number_or_null(row.flops_per_s() / measured.gemm_flops_per_s)},
               {"bytes", number_or_null(row.bytes)},
               {"bytes_per_s", number_or_null(row.bytes_per_s())},
               {"of_copy_ceiling", number_or_null(row.bytes_per_s() / measured.copy_bytes_per_s)}});
  return json;
}

std::string method(const LayerMeasurement& measured) {
  return fmt::format(
      "Measured: medians of {} passes over the whole network, after one that does not count. "
      "Products: {}, {} thread{}; all else: one thread. Ceilings: the fastest of some square "
      "products and of a sweep over more memory than a cache holds, before, between and after the "
      "passes; a layer whose activations fit into a cache can be faster than that sweep.",
      measured.passes.size(), measured.blas, measured.threads, measured.threads == 1 ? "" : "s");
}

}  // namespace

void print_layer_measurement(const Workload& workload, const std::string& format) {
  if (workload.layers.empty()) {
    throw InputError(fmt::format(
        "workload '{}' has only times: layers can be measured where their shapes are known, in a "
        "built-in network or a model file with layers",
        workload.name));
  }
  const LayerMeasurement measured = measure_layer_times(workload.layers);
  fmt::print("{}", format == "json" ? layer_measurement_json(workload, measured)
                                    : layer_measurement_table(workload, measured));
}

std::string layer_measurement_table(const Workload& workload, const LayerMeasurement& measured) {
  const std::vector<std::string> header{"layer",   "kind",    "forward ms", "backward ms",
                                        "GFLOP/s", "of GEMM", "GB/s",       "of copy"};
  const std::vector<Row> rows = rows_of(workload, measured);
  std::vector<std::vector<std::string>> layers;
  for (const Row& row : rows) layers.push_back(cells(row, measured));
  std::vector<std::vector<std::string>> kinds;
  for (const Row& row : sums_by_kind(rows)) kinds.push_back(cells(row, measured));
  for (auto& kind : kinds) kind[0] = "all";
  kinds.push_back({"a pass", "", milliseconds(measured.pass.forward_ns),
                   milliseconds(measured.pass.backward_ns), "", "", "", ""});
  kinds.push_back({"ceiling", "", "", "", fmt::format("{:.1f}", measured.gemm_flops_per_s / 1e9),
                   "", fmt::format("{:.1f}", measured.copy_bytes_per_s / 1e9), ""});
  return fmt::format("{}, batch {}\n\n{}\n{}\n{}\n", workload.name, workload.batch,
                     format_table(header, layers, 2), format_table(header, kinds, 2),
                     method(measured));
}

std::string layer_measurement_json(const Workload& workload, const LayerMeasurement& measured) {
  const std::vector<Row> rows = rows_of(workload, measured);
  nlohmann::json json = to_json(measured.pass);
  json["name"] = workload.name;
  json["batch"] = workload.batch;
  json["threads"] = measured.threads;
  json["blas"] = measured.blas;
  json["method"] = method(measured);
  json["ceilings"] = {{"flops_per_s", measured.gemm_flops_per_s},
                      {"bytes_per_s", measured.copy_bytes_per_s}};
  for (const LayerTime& pass : measured.passes) json["passes"].push_back(to_json(pass));
  for (const Row& row : sums_by_kind(rows)) json["kinds"].push_back(to_json(row, measured));
  for (const Row& row : rows) json["layers"].push_back(to_json(row, measured));
  return json.dump(2) + "\n";
}

}  // namespace mergewise
