// SPDX-License-Identifier: Apache-2.0
// The contract of a merge strategy, instantiated once per strategy in instances.cpp.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace mergewise::test {

/// The parameter is the strategy's id.
class StrategyContract : public ::testing::TestWithParam<std::string> {};

}  // namespace mergewise::test
