// SPDX-License-Identifier: Apache-2.0
// Provenance of a run by an allow-list; never the whole environment.
#pragma once

#include <nlohmann/json.hpp>

namespace mergewise {

/// Versions, processor, affinity, cgroup limits, governor, memory, kernel, host name, settings
/// NCCL_* GLOO_* CUDA_* OMP_* UCX_* OPENBLAS_* SLURM_JOB_ID, git revision with dirty flag (of the
/// build). Unknown values are null.
[[nodiscard]] nlohmann::json capture_environment();
/// Its part about the program alone, for results that depend on nothing else.
[[nodiscard]] nlohmann::json describe_program();
/// Processors this process may use: affinity and cgroup quota, at least 1.
[[nodiscard]] int allowed_processors();

}  // namespace mergewise
