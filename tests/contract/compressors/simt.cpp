// SPDX-License-Identifier: Apache-2.0
// The CUDA compressors, executed without a GPU (tests/simt).
#include "kernels/compress/algorithm_compressor.hpp"
#include "kernels/compress/cuda_backend.cuh"
#include "tests/contract/compressors/ranks.hpp"

namespace mergewise::test {

std::unique_ptr<Compressor> make_tested(const CompressorSpec& spec) {
  return make_compressor(spec, CudaBackend(nullptr));
}

}  // namespace mergewise::test
