// SPDX-License-Identifier: Apache-2.0
// The explicit list of strategies; each names itself.
#include "bench/strategies/registry.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "bench/strategies/bytescheduler.hpp"
#include "bench/strategies/ddp.hpp"
#include "bench/strategies/dear.hpp"
#include "bench/strategies/horovod.hpp"
#include "bench/strategies/mergecomp.hpp"
#include "bench/strategies/mg_wfbp.hpp"
#include "bench/strategies/omgs.hpp"
#include "bench/strategies/optimal.hpp"
#include "bench/strategies/single.hpp"
#include "bench/strategies/tuned.hpp"
#include "bench/strategies/wfbp.hpp"

namespace mergewise {
namespace {

using Factory = std::unique_ptr<Strategy> (*)();

template <typename T>
std::unique_ptr<Strategy> make() {
  return std::make_unique<T>();
}

constexpr Factory kFactories[] = {
    make<Wfbp>,      make<Single>, make<Ddp>,           make<Horovod>, make<MgWfbp>,  make<Omgs>,
    make<Mergecomp>, make<Dear>,   make<Bytescheduler>, make<Tuned>,   make<Optimal>,
};

}  // namespace

std::vector<std::string> strategy_ids() {
  std::vector<std::string> ids;
  for (const Factory factory : kFactories) ids.push_back(factory()->id());
  return ids;
}

std::unique_ptr<Strategy> make_strategy(std::string_view id) {
  for (const Factory factory : kFactories) {
    std::unique_ptr<Strategy> strategy = factory();
    if (strategy->id() == id) return strategy;
  }
  throw InputError(unknown_name("strategy", id, strategy_ids()));
}

}  // namespace mergewise
