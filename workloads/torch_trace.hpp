// SPDX-License-Identifier: Apache-2.0
// Imports a trace that PyTorch's profiler recorded of a training: when each gradient became ready.
#pragma once

#include "workloads/measured_model.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace mergewise {

/// What the user says beside the trace.
struct TorchTraceOptions {
  std::string name;        ///< of the model; "" = the file's, up to its first dot
  std::int64_t batch = 0;  ///< 0 = found in the trace: the first dimension of what goes in first
};

/// Reads a Chrome trace written by torch.profiler (Kineto; PyTorch 1.8 to 2.x), uncompressed, with
/// shapes. Needs memory for what is kept of it (about a tenth of the file), not for the file.
///
/// Each backward pass that completes gradients is an iteration; a new one begins where autograd's
/// sequence numbers rise (they fall within a pass). The times are medians over the iterations, by
/// tensor.
/// - Ready, on a CPU: the end of the tensor's AccumulateGrad, from the start of the pass's first
///   autograd function.
/// - Ready, on a GPU: the end of all work on the compute stream (the one with the most kernel time;
///   never NCCL's kernels) that the pass had launched by the end of the AccumulateGrad, from the
///   start of the first such work. The host runs ahead, so its own times would be too early.
/// - Forward: from the start of the first to the end of the last operation that autograd recorded
///   for this pass; on a GPU of the work that these launched. Loading data, zeroing gradients and
///   the optimizer are not in it.
///
/// Names: a trace has none. With with_stack=True the module's ("Conv2d_3.weight"), else the
/// operation's, counted in forward order ("conv_4.weight").
///
/// Kernels and copies whose launch the trace lacks are left out with a note; more than 5 % of the
/// compute stream's time are refused.
///
/// Throws InputError saying what the trace lacks and how to record it.
[[nodiscard]] ImportedModel import_torch_trace(const std::filesystem::path& file,
                                               const TorchTraceOptions& options);

}  // namespace mergewise
