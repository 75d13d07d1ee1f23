// SPDX-License-Identifier: Apache-2.0
#include "kernels/compress/host_compressor.hpp"
#include "tests/contract/compressors/ranks.hpp"

namespace mergewise::test {

std::unique_ptr<Compressor> make_tested(const CompressorSpec& spec) {
  return make_host_compressor(spec);
}

}  // namespace mergewise::test
