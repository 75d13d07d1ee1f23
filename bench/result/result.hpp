// SPDX-License-Identifier: Apache-2.0
// The result of a run as data, and its file (schema mergewise/result/1, described in
// docs/result.md).
#pragma once

#include "bench/core/options.hpp"
#include "bench/core/units.hpp"
#include "bench/cost/fit.hpp"
#include "bench/cost/profile.hpp"
#include "bench/plan/merge_plan.hpp"
#include "bench/plan/timeline.hpp"
#include "bench/replay/measurement.hpp"
#include "bench/stats/summary.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mergewise {

inline constexpr const char* kResultSchema = "mergewise/result/1";

enum class CaseStatus { kOk, kPartial, kFailed, kSkipped };
[[nodiscard]] const char* name_of(CaseStatus status);  ///< "ok", "partial", "failed", "skipped"

/// What the emulated link did in a case.
struct LinkRecord {
  double a_us = 0;
  double gbps = 0;
  std::int64_t collectives = 0;
  std::int64_t overran = 0;
};

/// How the cost model of a profile came about.
struct Calibration {
  std::string profile;  ///< key of Result::profiles
  /// "all_reduce", ..., "compress topk density=0.01", "decompress ..."; "copy" only in the record
  /// of a calibration.
  std::string collective;
  std::string variant;  ///< "isolated", "back_to_back", "beside_compute"
  std::vector<CalibrationPoint> points;
  LineFit fit;
  bool used_line = false;                  ///< the profile uses the fitted line
  std::string used = "line";               ///< "line", "segments", "points" or "nothing" of it
  std::string why{};                       ///< it uses that: one clause
  std::optional<SegmentedFit> segments{};  ///< nothing for a single size
  std::optional<double> bus_gbps{};     ///< the link rate that the line's slope implies; 1e9 bit/s
  std::vector<std::string> warnings{};  ///< sentences: what to beware of
};

/// How far the mean that compressed messages say is from the exact one, ||mean - exact|| /
/// ||exact||.
struct CompressionError {
  double whole = 0;         ///< of all elements
  double worst_tensor = 0;  ///< of the tensor where it is largest
};

/// What compressing changes about a case. Bytes and times are those of a rank and an iteration.
struct CompressionRecord {
  std::string id;
  Options options;                      ///< complete
  Bytes memory_bytes = 0;               ///< kept between iterations
  Bytes dense_bytes = 0;                ///< of the gradients
  Bytes planned_bytes = 0;              ///< of the messages, by the table of docs/compressors.md
  Nanoseconds planned_compress_ns = 0;  ///< what the profile's costs say of the plan
  Nanoseconds planned_decompress_ns = 0;
  std::optional<double> message_bytes;  ///< as measured
  /// Bytes that a ring passes on (and receives) for each byte of messages, and of dense gradients.
  double copies = 0;
  double dense_copies = 0;
  std::optional<std::uint64_t> nans;  ///< elements, of all ranks and iterations
  std::optional<std::uint64_t> infinities;
  std::optional<CompressionError> error;  ///< nothing for votes
};

struct CaseRecord {
  std::string workload;
  std::int64_t batch = 0;
  std::string times = "given";  ///< modelled | measured | given: what the layer times are
  std::string times_from;       ///< where they come from
  std::string strategy;
  Options options;
  std::string compressor = "none";  ///< its label: id and the options that are not the defaults
  int ranks = 1;
  std::string cluster;      ///< simulated: id of its description; "" for a run
  std::string accelerator;  ///< whose layer times these are; "" where no accelerator was modelled
  double gbps = 0;          ///< simulated: bandwidth of the cluster's network; 0 where unknown
  CaseStatus status = CaseStatus::kSkipped;
  std::string reason;  ///< why not ok; "" when ok
  bool verified = false;
  MergePlan plan;
  std::string plan_hash;                ///< 16 hex digits
  std::string profile;                  ///< key of Result::profiles
  std::vector<Nanoseconds> samples_ns;  ///< per iteration the maximum over ranks
  std::vector<Nanoseconds> warmup_ns;
  std::optional<Summary> summary;
  std::string stopped;  ///< "target", "max", "budget", "signal"
  std::optional<Nanoseconds> predicted_ns;
  std::optional<Nanoseconds> optimal_ns;        ///< the optimum of the model
  bool within_optimal = true;                   ///< as Strategy::within_optimal()
  std::vector<Probe> probes;                    ///< what a search for the plan measured
  std::optional<Nanoseconds> compute_alone_ns;  ///< measured without communication
  std::optional<Nanoseconds> tax_ns;            ///< null with timed compute, where it cannot show
  std::optional<Breakdown> breakdown;
  std::optional<LinkRecord> link;
  std::optional<CompressionRecord> compression;  ///< nothing where gradients are sent as they are
  std::vector<MeasuredSpan> spans;  ///< of one iteration, rank 0 (all ranks in trace.json)
  Timeline predicted;
  std::vector<std::string> flags;  ///< see docs/result.md
};

struct Result {
  std::string name;
  bool simulated = false;
  nlohmann::json environment;  ///< see environment.hpp
  nlohmann::json config;       ///< the config as it was understood, complete
  std::string started;         ///< UTC, ISO 8601
  std::uint64_t seed = 0;
  bool complete = false;  ///< all cases that were asked for are here
  std::map<std::string, Profile> profiles;
  std::vector<Calibration> calibrations;
  std::vector<CaseRecord> cases;
  std::vector<std::string> order;  ///< the recorded random order in which blocks ran
};

/// The documents; null for NaN and infinity.
[[nodiscard]] nlohmann::json to_json(const Calibration& calibration);
[[nodiscard]] nlohmann::json to_json(const Result& result);
/// Writes atomically (temporary file in the same folder, fsync, rename), through a symbolic link to
/// the file that it leads to; devices and pipes are written as they are. Throws BackendError naming
/// the path: read-only folder, disk full.
void write_file(const std::filesystem::path& file, const std::string& content);
void write_result(const std::filesystem::path& file, const Result& result);

}  // namespace mergewise
