// SPDX-License-Identifier: Apache-2.0
// The workloads of a config: built, loaded or read from profiles.
#pragma once

#include "bench/config/run_config.hpp"
#include "bench/cost/cluster.hpp"
#include "workloads/workload.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

struct LoadedWorkload {
  Workload workload;
  /// Of a workload that came as a profile: the costs it has, used instead of a calibration.
  CollectiveCosts costs;
  std::map<std::string, CompressorCost> compressors{};  ///< the same
  std::optional<int> accumulation{};                    ///< of a profile
  DType grad_dtype = DType::kFloat32;

  [[nodiscard]] std::vector<Bytes> tensor_bytes() const;
  [[nodiscard]] Bytes total_bytes() const;
  [[nodiscard]] std::vector<bool> vectors() const;  ///< by tensor: it has one dimension
};

/// One workload; a model's times are those on the accelerator (an id or a path), others have their
/// own. Throws InputError for everything that is wrong with a model, profile or accelerator.
[[nodiscard]] LoadedWorkload load_workload(const WorkloadConfig& config,
                                           const std::string& accelerator);

/// Throws InputError for strategies and profiles that cannot be replayed, for compressors whose
/// costs a profile lacks, for
/// everything that is wrong with a model, profile or accelerator, for two workloads of the same
/// name and batch, and for `compute: gemm` with a workload that has times but no shapes.
[[nodiscard]] std::vector<LoadedWorkload> load_workloads(const RunConfig& config);

/// What load_workloads() refuses of one workload by itself.
void check_workload(const RunConfig& config, const LoadedWorkload& workload);

}  // namespace mergewise
