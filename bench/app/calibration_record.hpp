// SPDX-License-Identifier: Apache-2.0
// All that one calibration found, as a document (docs/calibration.md) and as text.
#pragma once

#include "bench/collective/emulated_link.hpp"
#include "bench/result/result.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

inline constexpr const char* kCalibrationSchema = "mergewise/calibration/1";

/// How the layer times of the profile came about.
struct LayerRecord {
  std::string times;       ///< modelled | measured | given
  std::string times_from;  ///< where they come from
  Nanoseconds forward_ns = 0;
  Nanoseconds backward_ns = 0;
  int passes = 0;  ///< measured here; 0: they were not
};

struct CalibrationRecord {
  std::string name;
  std::string started;  ///< UTC, ISO 8601
  nlohmann::json environment;
  bool complete = false;
  int ranks = 1;
  std::uint64_t seed = 0;
  Nanoseconds budget_ns = 0;
  Bytes largest = 0;
  std::string device;
  std::string communicator;         ///< algorithm, transport, addresses
  std::optional<LinkModel> link;    ///< emulated
  std::optional<double> link_gbps;  ///< what the slowest link states or emulates, if known
  std::string load;  ///< beside which beside_compute is measured; "" where it was not
  std::optional<LayerRecord> layers;  ///< where a network was given
  std::vector<Calibration> calibrations;
  std::optional<Calibration> copies;
  std::string profile;             ///< the file; "" where none was written
  std::vector<std::string> notes;  ///< sentences: what was left out, and why
};

[[nodiscard]] nlohmann::json to_json(const CalibrationRecord& record);

/// For people: both fits of every collective and variant, what went into the profile and why, and
/// what to beware of.
[[nodiscard]] std::string calibration_text(const CalibrationRecord& record);

}  // namespace mergewise
