// SPDX-License-Identifier: Apache-2.0
// Each layer's real work on the host: its matrix products with OpenBLAS and its memory passes.
#pragma once

#include "bench/device/host/host_memory.hpp"
#include "kernels/compute/compute.hpp"
#include "workloads/layer_work.hpp"

#include <memory>
#include <vector>

namespace mergewise {

/// `layers` in forward order; `backward_layers[i]`: the layers whose backward work ends with tensor
/// i ready. A forward step is a layer. A layer does its products (a convolution's as an implicit
/// GEMM: blocks of rows over as much memory as it has activations); an embedding gathers rows and
/// scatters gradients; any other reads and writes half its bytes each. Buffers are reused across
/// layers: one for inputs, one for outputs, each as large as the neediest layer. It must outlive
/// the work it enqueued. Throws BackendError before anything runs, with the size, when that does
/// not fit into what the machine (or its cgroup) has free; UnsupportedError when a product is
/// beyond BLAS's 32-bit dimensions.
///
/// Products use as many threads as OPENBLAS_NUM_THREADS (else GOTO_ or OMP_NUM_THREADS) says, and
/// one when no variable says anything: the ranks of a host share its processors.
[[nodiscard]] std::unique_ptr<Compute> make_gemm_compute(
    const std::vector<LayerWork>& layers, std::vector<std::vector<std::size_t>> backward_layers);
/// Throws BackendError when `ranks` (>= 1) processes on this host, each with its buffers and
/// `gradients` bytes beside them, need more than `available`; UnsupportedError as above.
void check_gemm_memory(const std::vector<LayerWork>& layers, Bytes gradients, int ranks,
                       Bytes available = available_memory());
/// The threads it will use on each rank.
[[nodiscard]] int gemm_threads();

}  // namespace mergewise
