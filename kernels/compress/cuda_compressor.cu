// SPDX-License-Identifier: Apache-2.0
#include "kernels/compress/algorithm_compressor.hpp"
#include "kernels/compress/cuda_backend.cuh"
#include "kernels/compress/cuda_compressor.hpp"

namespace mergewise {

std::unique_ptr<Compressor> make_cuda_compressor(const CompressorSpec& spec, void* stream) {
  return make_compressor(spec, CudaBackend(static_cast<cudaStream_t>(stream)));
}

}  // namespace mergewise
