// SPDX-License-Identifier: Apache-2.0
// Times one kind of operation over sizes and variants, interleaved and within a budget. Private to
// this folder.
#pragma once

#include "bench/replay/calibrate.hpp"
#include "bench/replay/compute_load.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace mergewise::detail {

/// Merged gradients begin at any element: sizes that are no multiple of 8 bytes do here, too.
[[nodiscard]] inline std::size_t elements_off(Bytes bytes) { return bytes % 8 != 0 ? 1 : 0; }

/// Enqueues one operation of this many bytes.
using Operation = std::function<void(Bytes bytes)>;

/// One use each. All that decides what is measured next is agreed between the ranks.
class Calibrator {
 public:
  /// Of a rank that takes no part.
  Calibrator(ControlPlane& control, const CalibrationSettings& settings);
  Calibrator(ControlPlane& control, const CalibrationSettings& settings, Device& device,
             Stream& stream, Operation operation);

  [[nodiscard]] MeasuredCosts run();

 private:
  // One size under one variant, and what is known of it.
  struct Cell {
    std::size_t variant;
    Bytes bytes;
    Nanoseconds trial = 0;     // with the fewest repetitions
    Nanoseconds overhead = 0;  // of a measurement beside its operations
    int repetitions = 0;
    Nanoseconds wall = 0;  // of one measurement: expected, then as the last one took
    std::vector<double> samples;
  };

  // How trying a variant's sizes has gone so far.
  struct Trials {
    Nanoseconds used = 0;
    Nanoseconds operations = 0;  // of the last size
    Nanoseconds overhead = 0;
    std::vector<Bytes> left_out;
  };

  void try_sizes();
  void leave_out_from(std::size_t size);
  [[nodiscard]] std::vector<Bytes> sizes_from(std::size_t size) const;
  void try_size(std::size_t variant, Bytes bytes);
  void set_repetitions();
  void measure_round(int round);
  [[nodiscard]] Nanoseconds take(Bytes bytes, CostVariant variant, int repetitions);
  [[nodiscard]] std::vector<double> time_here(Bytes bytes, CostVariant variant, int repetitions);
  [[nodiscard]] Nanoseconds left();
  [[nodiscard]] double from_rank0(double mine);
  [[nodiscard]] std::vector<std::size_t> cells_of_round(int round);
  [[nodiscard]] MeasuredCosts result() const;
  void observe(Bytes bytes, CostVariant variant, int round) const;

  ControlPlane& control_;
  const CalibrationSettings& settings_;
  Stream* stream_ = nullptr;
  Operation operation_;
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
  std::unique_ptr<ComputeLoad> load_;  // only where a variant wants it
  Stamp started_;
  Nanoseconds budget_ = 0;  // rank 0's
  std::vector<Cell> cells_;
  std::vector<Trials> trials_;  // by variant
  Nanoseconds last_wall_ = 0;   // of the last take
  bool stopped_ = false;
  bool out_of_time_ = false;
};

}  // namespace mergewise::detail
