// SPDX-License-Identifier: Apache-2.0
// A fixture that runs a test once per thread order.
#pragma once

#include "tests/simt/executor.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mergewise {

class InEveryOrder : public testing::TestWithParam<simt::ThreadOrder> {
 private:
  simt::OrderGuard order_{GetParam()};
};

inline std::string order_name(const testing::TestParamInfo<simt::ThreadOrder>& order) {
  switch (order.param) {
    case simt::ThreadOrder::kForward:
      return "Forward";
    case simt::ThreadOrder::kReverse:
      return "Reverse";
    case simt::ThreadOrder::kRandom:
      return "Random";
  }
  return "";
}

inline auto every_order() {
  return testing::Values(simt::ThreadOrder::kForward, simt::ThreadOrder::kReverse,
                         simt::ThreadOrder::kRandom);
}

}  // namespace mergewise
