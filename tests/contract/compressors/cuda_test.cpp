// SPDX-License-Identifier: Apache-2.0
// What nvcc makes of the CUDA compressors: that it is complete, and needs no driver to start.
#include "bench/core/error.hpp"
#include "kernels/compress/cuda_compressor.hpp"
#include "tests/contract/compressors/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace mergewise::test {

std::unique_ptr<Compressor> make_tested(const CompressorSpec& spec) {
  return make_cuda_compressor(spec, nullptr);
}

namespace {

TEST(CudaCompressors, AreMadeOfAllKinds) {
  for (const std::string& id : compressor_ids()) {
    if (id == "none") {
      EXPECT_THROW((void)make(id), InputError);
    } else {
      EXPECT_EQ(make(id)->spec().id, id);
    }
  }
}

TEST(CudaCompressors, SayThatThereIsNoDevice) {
  ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);  // before CUDA first looks
  const auto compressor = make("topk");
  const GroupLayout group(0, {8});
  Floats memory = no_memory(*compressor, group);
  EXPECT_THAT(
      [&] {
        (void)message_of(*compressor, group, {0, 0, 1}, Floats(8), memory);
      },
      testing::ThrowsMessage<BackendError>(testing::HasSubstr("kernel set_facts")));
}

}  // namespace
}  // namespace mergewise::test
