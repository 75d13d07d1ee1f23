// SPDX-License-Identifier: Apache-2.0
#include "bench/app/case_set.hpp"

#include <fmt/format.h>

namespace mergewise {

Profile make_profile(const Workload& workload, int ranks, const CollectiveCosts& costs) {
  Profile profile;
  profile.name = workload.name;
  profile.forward_ns = workload.forward_ns;
  for (const WorkloadTensor& tensor : workload.tensors) {
    profile.tensors.push_back({tensor.name, tensor.bytes, tensor.backward_ns, tensor.forward_ns,
                               tensor.layer, tensor.shape});
  }
  profile.ranks = ranks;
  profile.all_reduce = costs.all_reduce;
  profile.all_gather = costs.all_gather;
  profile.reduce_scatter = costs.reduce_scatter;
  if (ranks > 1) return profile;
  CollectiveCost free;
  free.isolated = CostModel();
  for (auto* cost : {&profile.all_reduce, &profile.all_gather, &profile.reduce_scatter}) {
    if (!*cost) *cost = free;
  }
  return profile;
}

void plan_strategies(CaseSet& set, const std::vector<ChoiceConfig>& strategies) {
  const TimeModel model(set.profile);
  const auto optimal = optimal_iteration(model);
  std::vector<Bytes> bytes;
  for (const ProfileTensor& tensor : set.profile.tensors) bytes.push_back(tensor.bytes);
  for (const ChoiceConfig& choice : strategies) {
    PlannedStrategy strategy{choice.id, plan_case(choice.id, choice.options, model, optimal), 0};
    strategy.hash = hash(strategy.planned.plan, bytes, model.wire());
    set.strategies.push_back(std::move(strategy));
  }
}

std::vector<Contestant> contestants_of(const CaseSet& set) {
  std::vector<Contestant> contestants;
  for (const PlannedStrategy& strategy : set.strategies) {
    contestants.push_back(
        {fmt::format("{} / {}, {} ranks", set.workload, strategy.strategy, set.ranks),
         strategy.planned.plan, strategy.hash});
  }
  return contestants;
}

}  // namespace mergewise
