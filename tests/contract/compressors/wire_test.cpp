// SPDX-License-Identifier: Apache-2.0
// What compressors send is what plans are made for.
#include "bench/cost/wire.hpp"

#include "tests/contract/compressors/cases.hpp"

#include <gtest/gtest.h>

namespace mergewise::test {
namespace {

class WireContract : public CompressorContract {};

TEST_P(WireContract, MessagesAreAsLargeAsPlansTakeThemToBe) {
  for (const double density : {0.001, 0.1, 1.0}) {
    const auto compressor = make(density);
    const WireFormat wire(compressor->spec(), sizeof(float));
    EXPECT_EQ(compressor->summed_as().has_value(), wire.collective() == Collective::kAllReduce);
    EXPECT_EQ(compressor->parts(), wire.messages());
    for (const std::vector<std::size_t>& sizes : std::vector<std::vector<std::size_t>>{
             {}, {0}, {1}, {7}, {8}, {9}, {511}, {512, 1}, {3, 0, 5}, kSizes}) {
      std::vector<bool> vectors(sizes.size(), false);
      if (!sizes.empty()) vectors.back() = true;
      const auto tensors = std::count_if(sizes.begin(), sizes.end(), [](auto n) { return n > 0; });
      const auto bytes = [](std::size_t elements) {
        return static_cast<Bytes>(elements * sizeof(float));
      };
      EXPECT_EQ(
          static_cast<Bytes>(compressor->message_bytes(GroupLayout(0, sizes, vectors))),
          wire.wire_bytes(bytes(total(sizes)), tensors, bytes(sizes.empty() ? 0 : sizes.back())));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WireContract, testing::ValuesIn(cases()), name_of_case);

}  // namespace
}  // namespace mergewise::test
