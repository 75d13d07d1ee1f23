// SPDX-License-Identifier: Apache-2.0
// Each layer's real work on the host: its matrix products with OpenBLAS and its memory passes.
#pragma once

#include "kernels/compute/compute.hpp"
#include "workloads/layer_work.hpp"

#include <memory>
#include <vector>

namespace mergewise {

/// `layers` in forward order; `backward_layers[i]`: the layers whose backward work ends with tensor
/// i ready. Buffers are reused across layers: memory is that of the largest layer. Throws
/// BackendError before anything runs, with the size, when that does not fit into what the machine
/// (or its cgroup) has free.
[[nodiscard]] std::unique_ptr<Compute> make_gemm_compute(
    std::vector<LayerWork> layers, std::vector<std::vector<std::size_t>> backward_layers);
/// The memory it will take.
[[nodiscard]] Bytes gemm_memory(const std::vector<LayerWork>& layers);

}  // namespace mergewise
