// SPDX-License-Identifier: Apache-2.0
// The compressors on CUDA. In the library mergewise_kernels_cuda, where nvcc was found.
#pragma once

#include "kernels/compress/compressor.hpp"

#include <memory>

namespace mergewise {

/// Of the current device. `stream` is a cudaStream_t on which all work is enqueued; nothing waits
/// for it, and it outlives the compressor. The spans that compress() and decompress() take, `bytes`
/// and `facts` are in the device's memory (floats are read fastest where they begin at a multiple
/// of 16 bytes). A group's first message copies its layout there; later ones allocate nothing,
/// except that top-k's and the sums' scratch memory grows with the largest group. Messages are
/// those of the host bit for bit (but for the payload of a NaN, which fp16 and bf16 send). Throws
/// InputError for "none", which compresses nothing; its calls throw BackendError where CUDA fails.
[[nodiscard]] std::unique_ptr<Compressor> make_cuda_compressor(const CompressorSpec& spec,
                                                               void* stream);

}  // namespace mergewise
