// SPDX-License-Identifier: Apache-2.0
#include "bench/app/calibration_facts.hpp"

#include "bench/core/error.hpp"
#include "bench/cost/fit.hpp"

#include <fmt/format.h>

namespace mergewise {
namespace {

// Beyond this no error of measurement explains it.
constexpr double kFasterThanLink = 1.05;

std::pair<Calibration, CostModel> describe_points(const MeasuredVariant& measured) {
  MERGEWISE_CHECK(!measured.points.empty(), "a calibration has a point");
  MeasuredPoints points;
  for (const CalibrationPoint& point : measured.points) points.emplace_back(point.bytes, point.ns);
  const FittedCost fitted = fit_cost(points);
  Calibration calibration;
  calibration.variant = name_of(measured.variant);
  calibration.points = measured.points;
  calibration.used = fitted.form;
  calibration.used_line = fitted.form == "line";
  calibration.why = fitted.why;
  calibration.segments = fitted.segments;
  if (fitted.line) {
    calibration.fit = *fitted.line;
    if (fitted.line->negative_intercept) {
      calibration.warnings.emplace_back(
          "negative intercept: the best line would begin below 0, so a straight line does not "
          "describe small sizes");
    }
  }
  return {calibration, fitted.cost};
}

std::string faster_than_link(const char* what, double bus, double link) {
  return fmt::format(
      "faster than the link: {} implies {:.3g} Gbit/s, but the link has {:.3g}: the fit cannot "
      "hold for larger sizes, or the ranks use another link",
      what, bus, link);
}

}  // namespace

double bus_factor(Collective collective, int ranks) {
  const double others = ranks - 1;
  switch (collective) {
    case Collective::kAllReduce:
      return 2 * others / ranks;
    case Collective::kReduceScatter:
      return others / ranks;
    case Collective::kAllGather:
      return others;
  }
  return 0;
}

std::optional<double> bus_gbps(Collective collective, int ranks, double ns_per_byte) {
  if (ns_per_byte <= 0) return std::nullopt;
  return bus_factor(collective, ranks) * 8 / ns_per_byte;
}

std::pair<Calibration, CostModel> describe_calibration(Collective collective,
                                                       const MeasuredVariant& measured, int ranks,
                                                       std::optional<double> link_gbps) {
  auto described = describe_points(measured);
  Calibration& calibration = described.first;
  calibration.collective = name_of(collective);
  calibration.bus_gbps = bus_gbps(collective, ranks, calibration.fit.line.b_ns_per_byte);
  if (!link_gbps) return described;
  const double limit = *link_gbps * kFasterThanLink;
  if (calibration.bus_gbps && *calibration.bus_gbps > limit) {
    calibration.warnings.push_back(
        faster_than_link("the line's slope", *calibration.bus_gbps, *link_gbps));
  }
  if (calibration.segments && calibration.segments->segments.size() > 1) {
    const LinearCost& last = calibration.segments->segments.back().line;
    const auto bus = bus_gbps(collective, ranks, last.b_ns_per_byte);
    if (!bus || *bus > limit) {
      calibration.warnings.push_back(bus ? faster_than_link("the last segment", *bus, *link_gbps)
                                         : "faster than the link: the last segment does not rise");
    }
  }
  return described;
}

std::pair<Calibration, CostModel> describe_local(std::string what,
                                                 const MeasuredVariant& measured) {
  auto described = describe_points(measured);
  described.first.collective = std::move(what);
  return described;
}

}  // namespace mergewise
