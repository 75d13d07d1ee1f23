// SPDX-License-Identifier: Apache-2.0
#include "bench/app/calibration_record.hpp"

#include "bench/app/calibration_facts.hpp"
#include "bench/app/table.hpp"
#include "bench/core/text.hpp"
#include "bench/result/json_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

using nlohmann::json;

json layers_json(const LayerRecord& layers) {
  return {{"times", layers.times},
          {"times_from", layers.times_from},
          {"forward_ns", layers.forward_ns},
          {"backward_ns", layers.backward_ns},
          {"passes", layers.passes}};
}

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string slope(double ns_per_byte) { return fmt::format("{:.4g}", ns_per_byte); }

std::string name_of(const Calibration& calibration) {
  return fmt::format("{} {}", calibration.collective, calibration.variant);
}

std::string rate(const std::optional<double>& gbps) {
  return gbps ? fmt::format("{:.3g}", *gbps) : std::string("-");
}

// Half the width of the interval against the point: of the typical point.
std::string typical_interval(const Calibration& calibration) {
  std::vector<double> widths;
  for (const CalibrationPoint& point : calibration.points) {
    const double half = (point.high_ns - point.low_ns) / 2 / point.ns;
    if (std::isfinite(half)) widths.push_back(half);
  }
  if (widths.empty()) return "-";
  std::sort(widths.begin(), widths.end());
  return percent(widths[widths.size() / 2]);
}

std::vector<std::string> fit_row(const Calibration& calibration) {
  const bool fitted = calibration.segments.has_value();
  const LineFit& fit = calibration.fit;
  std::vector<std::string> row{calibration.collective, calibration.variant,
                               fmt::format("{}", calibration.points.size()),
                               typical_interval(calibration)};
  if (!fitted) {
    row.insert(row.end(), {"-", "-", "-", "-", "-", "-", "-", "-"});
  } else {
    row.insert(row.end(), {human_time(fit.line.a_ns), slope(fit.line.b_ns_per_byte),
                           rate(calibration.bus_gbps), fmt::format("{:.4f}", fit.r_squared),
                           percent(fit.largest_error),
                           fmt::format("{}", calibration.segments->segments.size()),
                           fmt::format("{:.4f}", calibration.segments->r_squared),
                           percent(calibration.segments->largest_error)});
  }
  row.push_back(calibration.used);
  return row;
}

std::string segments_text(const std::vector<Calibration>& calibrations, int ranks) {
  std::vector<std::vector<std::string>> rows;
  for (const Calibration& calibration : calibrations) {
    if (!calibration.segments || calibration.segments->segments.size() < 2) continue;
    for (const SegmentedFit::Segment& segment : calibration.segments->segments) {
      std::optional<double> gbps;
      for (const Collective collective : kCollectives) {
        if (calibration.collective != mergewise::name_of(collective)) continue;
        gbps = bus_gbps(collective, ranks, segment.line.b_ns_per_byte);
      }
      rows.push_back({calibration.collective, calibration.variant, human_bytes(segment.from),
                      human_bytes(segment.to), human_time(segment.line.a_ns),
                      slope(segment.line.b_ns_per_byte), rate(gbps)});
    }
  }
  if (rows.empty()) return "";
  return "\nSegments\n" +
         format_table({"collective", "variant", "from", "to", "a", "b ns/B", "bus Gbit/s"}, rows,
                      2);
}

std::string link_text(const CalibrationRecord& record) {
  if (record.link) {
    return fmt::format("emulated, {} us and {} Gbit/s", record.link->a_us, record.link->gbps);
  }
  return record.link_gbps ? fmt::format("states {:.3g} Gbit/s", *record.link_gbps)
                          : std::string("speed unknown");
}

}  // namespace

json to_json(const CalibrationRecord& record) {
  json calibrations = json::array();
  for (const Calibration& calibration : record.calibrations) {
    calibrations.push_back(to_json(calibration));
  }
  json link = nullptr;
  if (record.link) link = {{"a_us", record.link->a_us}, {"gbps", record.link->gbps}};
  return {{"schema", kCalibrationSchema},
          {"name", record.name},
          {"started", record.started},
          {"environment", record.environment},
          {"complete", record.complete},
          {"ranks", record.ranks},
          {"seed", record.seed},
          {"budget_ns", record.budget_ns},
          {"largest_bytes", record.largest},
          {"device", record.device},
          {"communicator", text_or_null(record.communicator)},
          {"link", std::move(link)},
          {"link_gbps", or_null(record.link_gbps)},
          {"load", text_or_null(record.load)},
          {"layers", record.layers ? layers_json(*record.layers) : json(nullptr)},
          {"calibrations", std::move(calibrations)},
          {"copies", record.copies ? to_json(*record.copies) : json(nullptr)},
          {"profile", text_or_null(record.profile)},
          {"notes", record.notes}};
}

std::string calibration_text(const CalibrationRecord& record) {
  std::vector<Calibration> all = record.calibrations;
  if (record.copies) all.push_back(*record.copies);
  std::vector<std::vector<std::string>> rows;
  for (const Calibration& calibration : all) rows.push_back(fit_row(calibration));
  std::string text = fmt::format("{}, {}; link: {}\n", record.name, counted(record.ranks, "rank"),
                                 link_text(record));
  if (!record.communicator.empty()) text += record.communicator + "\n";
  if (record.layers) {
    text += fmt::format("Layer times: {} ({}), forward {}, backward {}\n", record.layers->times,
                        record.layers->times_from, human_time(record.layers->forward_ns),
                        human_time(record.layers->backward_ns));
  }
  text += "\n" + format_table(
                     {"collective", "variant", "sizes", "interval +-", "a", "b ns/B", "bus Gbit/s",
                      "R2", "largest error", "segments", "R2", "largest error", "in the profile"},
                     rows, 2);
  text += segments_text(all, record.ranks);
  text += "\nWhat plans are made from, and why\n";
  for (const Calibration& calibration : all) {
    text += fmt::format("  {}: {} ({})\n", name_of(calibration), calibration.used, calibration.why);
  }
  for (const Calibration& calibration : all) {
    for (const std::string& warning : calibration.warnings) {
      text += fmt::format("Warning: {}: {}\n", name_of(calibration), warning);
    }
  }
  for (const std::string& note : record.notes) text += fmt::format("Note: {}\n", note);
  return text;
}

}  // namespace mergewise
