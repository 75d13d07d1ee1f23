// SPDX-License-Identifier: Apache-2.0
// The result as a document; docs/result.md says what each key means.
#include "bench/result/result.hpp"

#include "bench/result/json_values.hpp"

#include <cmath>
#include <limits>

namespace mergewise {
namespace {

using nlohmann::json;

// JSON knows no NaN and no infinity: what is not defined is null.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json numbers(const std::vector<double>& values) {
  json out = json::array();
  for (const double value : values) out.push_back(number(value));
  return out;
}

const char* name_of(Lane lane) { return lane == Lane::kCompute ? "compute" : "communication"; }

json span_json(int rank, Lane lane, const std::string& activity, std::size_t group,
               Nanoseconds begin, Nanoseconds end) {
  return {{"rank", rank},   {"lane", name_of(lane)},     {"activity", activity},
          {"group", group}, {"begin_ns", number(begin)}, {"end_ns", number(end)}};
}

json spans_json(const std::vector<MeasuredSpan>& spans) {
  json out = json::array();
  for (const MeasuredSpan& span : spans) {
    out.push_back(span_json(span.rank, span.lane, span.activity, span.group, span.begin, span.end));
  }
  return out;
}

json predicted_json(const Timeline& timeline) {
  json out = json::array();
  for (const Span& span : timeline.spans) {
    out.push_back(
        span_json(0, span.lane, name_of(span.activity), span.index, span.begin, span.end));
  }
  return out;
}

json summary_json(const std::optional<Summary>& summary) {
  if (!summary) return nullptr;
  return {{"count", summary->count},
          {"median_ns", number(summary->median)},
          {"low_ns", number(summary->interval.low)},
          {"high_ns", number(summary->interval.high)},
          {"confidence", number(summary->interval.confidence)},
          {"mean_ns", number(summary->mean)},
          {"min_ns", number(summary->minimum)},
          {"p95_ns", number(summary->p95)},
          {"p99_ns", number(summary->p99)}};
}

json breakdown_json(const std::optional<Breakdown>& breakdown) {
  if (!breakdown) return nullptr;
  json labels = json::object();
  for (const auto& [label, ns] : breakdown->labels_ns) labels[label] = number(ns);
  return {{"iteration_ns", number(breakdown->iteration_ns)},
          {"labels_ns", std::move(labels)},
          {"busy_ns", number(breakdown->busy_ns)},
          {"exposed_ns", number(breakdown->exposed_ns)},
          {"hidden_ns", number(breakdown->hidden_ns)},
          {"observer_ns", number(breakdown->observer_ns)},
          {"clock_error_ns", number(breakdown->clock_error_ns)}};
}

json link_json(const std::optional<LinkRecord>& link) {
  if (!link) return nullptr;
  return {{"a_us", number(link->a_us)},
          {"gbps", number(link->gbps)},
          {"collectives", link->collectives},
          {"overran", link->overran}};
}

json error_json(const std::optional<CompressionError>& error) {
  if (!error) return nullptr;
  return {{"whole", number(error->whole)}, {"worst_tensor", number(error->worst_tensor)}};
}

json compression_json(const std::optional<CompressionRecord>& record) {
  if (!record) return nullptr;
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const double message = record->message_bytes.value_or(kUnknown);
  return {
      {"id", record->id},
      {"options", to_json(record->options)},
      {"memory_bytes", record->memory_bytes},
      {"dense_bytes", record->dense_bytes},
      {"planned_bytes", record->planned_bytes},
      {"planned_compress_ns", number(record->planned_compress_ns)},
      {"planned_decompress_ns", number(record->planned_decompress_ns)},
      {"message_bytes", number(message)},
      {"sent_bytes", number(record->copies * message)},
      {"received_bytes", number(record->copies * message)},
      {"planned_sent_bytes", number(record->copies * static_cast<double>(record->planned_bytes))},
      {"dense_sent_bytes", number(record->dense_copies * static_cast<double>(record->dense_bytes))},
      {"nans", or_null(record->nans)},
      {"infinities", or_null(record->infinities)},
      {"error", error_json(record->error)}};
}

json segments_json(const std::optional<SegmentedFit>& fit) {
  if (!fit) return nullptr;
  json segments = json::array();
  for (const SegmentedFit::Segment& segment : fit->segments) {
    segments.push_back({{"from_bytes", segment.from},
                        {"to_bytes", segment.to},
                        {"a_ns", number(segment.line.a_ns)},
                        {"b_ns_per_byte", number(segment.line.b_ns_per_byte)}});
  }
  return {{"segments", std::move(segments)},
          {"r_squared", number(fit->r_squared)},
          {"largest_error", number(fit->largest_error)}};
}

json workload_json(const CaseRecord& record, const Profile* profile) {
  json out{{"name", record.workload},         {"batch", record.batch}, {"times", record.times},
           {"times_from", record.times_from}, {"tensors", nullptr},    {"bytes", nullptr},
           {"forward_ns", nullptr},           {"backward_ns", nullptr}};
  if (profile == nullptr) return out;
  Bytes bytes = 0;
  Nanoseconds backward = 0;
  for (const ProfileTensor& tensor : profile->tensors) {
    bytes += tensor.bytes;
    backward += tensor.backward_ns;
  }
  out["tensors"] = profile->tensors.size();
  out["bytes"] = bytes;
  out["forward_ns"] = number(profile->forward_ns);
  out["backward_ns"] = number(backward);
  return out;
}

json plan_json(const CaseRecord& record, const Profile* profile) {
  json out = to_json(record.plan);
  json sizes = json::array();
  for (const Group& group : record.plan.groups) {
    if (profile == nullptr || group.end > profile->tensors.size()) break;
    Bytes bytes = 0;
    for (std::size_t i = group.begin; i < group.end; ++i) bytes += profile->tensors[i].bytes;
    sizes.push_back(bytes);
  }
  out["group_bytes"] = std::move(sizes);
  out["hash"] = record.plan_hash;
  return out;
}

// What follows from other fields of the record is computed here, so that it cannot disagree. NaN
// stands for unknown: it makes all that depends on it unknown too.
void add_times(json& out, const CaseRecord& record) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const double median = record.summary ? record.summary->median : kUnknown;
  const double predicted = record.predicted_ns.value_or(kUnknown);
  const double optimal = record.optimal_ns.value_or(kUnknown);
  const double alone = record.compute_alone_ns.value_or(kUnknown);
  out["predicted_ns"] = number(predicted);
  out["optimal_ns"] = number(optimal);
  out["within_optimal"] = record.within_optimal;
  out["gap"] = number(predicted / optimal - 1);
  out["prediction_error"] = number(predicted / median - 1);
  out["compute_alone_ns"] = number(alone);
  out["communication_cost_ns"] = number(median - alone);
  out["tax_ns"] = number(record.tax_ns.value_or(kUnknown));
}

json probes_json(const std::vector<Probe>& probes) {
  json out = json::array();
  for (const Probe& probe : probes) {
    out.push_back({{"ends", probe.ends}, {"iteration_ns", number(probe.iteration_ns)}});
  }
  return out;
}

json case_json(const CaseRecord& record, const std::map<std::string, Profile>& profiles) {
  const auto found = profiles.find(record.profile);
  const Profile* profile = found == profiles.end() ? nullptr : &found->second;
  json out{{"workload", workload_json(record, profile)},
           {"strategy", record.strategy},
           {"options", to_json(record.options)},
           {"compressor", record.compressor},
           {"ranks", record.ranks},
           {"cluster", text_or_null(record.cluster)},
           {"accelerator", text_or_null(record.accelerator)},
           {"gbps", record.gbps > 0 ? number(record.gbps) : json(nullptr)},
           {"status", name_of(record.status)},
           {"reason", record.reason},
           {"verified", record.verified},
           {"plan", record.plan.groups.empty() ? json(nullptr) : plan_json(record, profile)},
           {"profile", record.profile},
           {"samples_ns", numbers(record.samples_ns)},
           {"warmup_ns", numbers(record.warmup_ns)},
           {"summary", summary_json(record.summary)},
           {"stopped", record.stopped},
           {"probes", probes_json(record.probes)},
           {"breakdown", breakdown_json(record.breakdown)},
           {"link", link_json(record.link)},
           {"compression", compression_json(record.compression)},
           {"spans", spans_json(record.spans)},
           {"predicted_spans", predicted_json(record.predicted)},
           {"flags", record.flags}};
  add_times(out, record);
  return out;
}

}  // namespace

const char* name_of(CaseStatus status) {
  switch (status) {
    case CaseStatus::kOk:
      return "ok";
    case CaseStatus::kPartial:
      return "partial";
    case CaseStatus::kFailed:
      return "failed";
    case CaseStatus::kSkipped:
      return "skipped";
  }
  return "unknown";
}

json to_json(const Calibration& calibration) {
  json points = json::array();
  for (const CalibrationPoint& point : calibration.points) {
    points.push_back({{"bytes", point.bytes},
                      {"ns", number(point.ns)},
                      {"low_ns", number(point.low_ns)},
                      {"high_ns", number(point.high_ns)},
                      {"repetitions", point.repetitions}});
  }
  const LineFit& fit = calibration.fit;
  return {{"profile", calibration.profile},
          {"collective", calibration.collective},
          {"variant", calibration.variant},
          {"points", std::move(points)},
          {"fit",
           {{"a_ns", number(fit.line.a_ns)},
            {"b_ns_per_byte", number(fit.line.b_ns_per_byte)},
            {"r_squared", number(fit.r_squared)},
            {"largest_error", number(fit.largest_error)},
            {"negative_intercept", fit.negative_intercept},
            {"gigabits_per_s", number(fit.gigabits_per_s)}}},
          {"used_line", calibration.used_line},
          {"used", calibration.used},
          {"why", calibration.why},
          {"segments", segments_json(calibration.segments)},
          {"bus_gbps", calibration.bus_gbps ? number(*calibration.bus_gbps) : json(nullptr)},
          {"warnings", calibration.warnings}};
}

json to_json(const Result& result) {
  json profiles = json::object();
  for (const auto& [key, profile] : result.profiles) profiles[key] = to_json(profile);
  json calibrations = json::array();
  for (const Calibration& calibration : result.calibrations) {
    calibrations.push_back(to_json(calibration));
  }
  json cases = json::array();
  for (const CaseRecord& record : result.cases) {
    cases.push_back(case_json(record, result.profiles));
  }
  return {{"schema", kResultSchema},
          {"name", result.name},
          {"started", result.started},
          {"seed", result.seed},
          {"simulated", result.simulated},
          {"complete", result.complete},
          {"environment", result.environment},
          {"config", result.config},
          {"profiles", std::move(profiles)},
          {"calibrations", std::move(calibrations)},
          {"order", result.order},
          {"cases", std::move(cases)}};
}

}  // namespace mergewise
