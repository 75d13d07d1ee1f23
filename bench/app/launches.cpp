// SPDX-License-Identifier: Apache-2.0
#include "bench/app/launches.hpp"

#include "bench/app/table.hpp"
#include "bench/core/median.hpp"
#include "bench/core/units.hpp"
#include "bench/result/result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace mergewise {
namespace {

nlohmann::json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  nlohmann::json document = nlohmann::json::parse(stream, nullptr, false);
  if (document.is_discarded()) {
    throw BackendError(fmt::format("{} cannot be read back", file.string()));
  }
  return document;
}

std::string spread_table(const nlohmann::json& comparison) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& entry : comparison["cases"]) {
    std::vector<std::string> medians;
    for (const auto& median_ns : entry["medians_ns"]) {
      medians.push_back(median_ns.is_null() ? "-"
                                            : fmt::format("{:.1f}", median_ns.get<double>() / 1e6));
    }
    rows.push_back(
        {entry["workload"].get<std::string>(), entry["strategy"].get<std::string>(),
         fmt::format("{}", entry["ranks"].get<int>()), fmt::format("{}", fmt::join(medians, "  ")),
         entry["spread"].is_null() ? "-"
                                   : fmt::format("{:.2f} %", entry["spread"].get<double>() * 100)});
  }
  return format_table({"workload", "strategy", "ranks", "medians of the launches, ms", "spread"},
                      rows, 2);
}

}  // namespace

nlohmann::json compare_launches(const std::vector<nlohmann::json>& results) {
  nlohmann::json cases = nlohmann::json::array();
  for (std::size_t i = 0; i < results.at(0)["cases"].size(); ++i) {
    const auto& first = results[0]["cases"][i];
    nlohmann::json medians = nlohmann::json::array();
    std::vector<double> known;
    for (const auto& result : results) {
      const auto& summary = result.at("cases").at(i).at("summary");
      medians.push_back(summary.is_null() ? nlohmann::json(nullptr) : summary["median_ns"]);
      if (!summary.is_null()) known.push_back(summary["median_ns"].get<double>());
    }
    nlohmann::json spread = nullptr;
    if (known.size() == results.size()) {
      const auto [low, high] = std::minmax_element(known.begin(), known.end());
      spread = (*high - *low) / median(known);
    }
    cases.push_back({{"workload", first["workload"]["name"]},
                     {"batch", first["workload"]["batch"]},
                     {"strategy", first["strategy"]},
                     {"options", first["options"]},
                     {"compressor", first["compressor"]},
                     {"ranks", first["ranks"]},
                     {"medians_ns", medians},
                     {"spread", spread}});
  }
  return {{"schema", kLaunchesSchema}, {"launches", results.size()}, {"cases", cases}};
}

ExitCode run_launches(int launches, const std::filesystem::path& out, const Launch& launch) {
  std::vector<nlohmann::json> results;
  for (int i = 1; i <= launches; ++i) {
    fmt::print(stderr, "launch {} of {}\n", i, launches);
    const auto folder = out / fmt::format("launch-{}", i);
    const ExitCode code = launch(folder);
    if (code != ExitCode::kOk) return code;
    results.push_back(read_json(folder / "result.json"));
  }
  const nlohmann::json comparison = compare_launches(results);
  const auto file = out / "launches.json";
  write_file(file, comparison.dump(2));
  fmt::print("\n{}\nLaunches: {}\n", spread_table(comparison), file.string());
  return ExitCode::kOk;
}

}  // namespace mergewise
