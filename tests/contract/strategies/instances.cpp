// SPDX-License-Identifier: Apache-2.0
// One line per strategy.
#include "tests/contract/strategies/strategy_contract.hpp"

#include <gtest/gtest.h>

namespace mergewise::test {
namespace {

using ::testing::Values;

INSTANTIATE_TEST_SUITE_P(Wfbp, StrategyContract, Values("wfbp"));
INSTANTIATE_TEST_SUITE_P(Single, StrategyContract, Values("single"));
INSTANTIATE_TEST_SUITE_P(Ddp, StrategyContract, Values("ddp"));
INSTANTIATE_TEST_SUITE_P(Horovod, StrategyContract, Values("horovod"));
INSTANTIATE_TEST_SUITE_P(MgWfbp, StrategyContract, Values("mg_wfbp"));
INSTANTIATE_TEST_SUITE_P(Omgs, StrategyContract, Values("omgs"));
INSTANTIATE_TEST_SUITE_P(Mergecomp, StrategyContract, Values("mergecomp"));
INSTANTIATE_TEST_SUITE_P(Dear, StrategyContract, Values("dear"));
INSTANTIATE_TEST_SUITE_P(Bytescheduler, StrategyContract, Values("bytescheduler"));
INSTANTIATE_TEST_SUITE_P(Tuned, StrategyContract, Values("tuned"));
INSTANTIATE_TEST_SUITE_P(Optimal, StrategyContract, Values("optimal"));

}  // namespace
}  // namespace mergewise::test
