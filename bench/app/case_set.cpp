// SPDX-License-Identifier: Apache-2.0
#include "bench/app/case_set.hpp"

#include "bench/app/compressors.hpp"
#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "bench/strategies/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {
namespace {

bool same_plan(const MergePlan& a, const MergePlan& b) {
  return a.groups == b.groups && a.chunking == b.chunking;
}

}  // namespace

std::string title_of(const CaseSet& set) {
  return set.compressor.id == "none"
             ? set.workload
             : fmt::format("{} with {}", set.workload, label_of(set.compressor));
}

Profile times_of(const Workload& workload) {
  Profile profile;
  profile.name = workload.name;
  profile.forward_ns = workload.forward_ns;
  for (const WorkloadTensor& tensor : workload.tensors) {
    profile.tensors.push_back({tensor.name, tensor.bytes, tensor.backward_ns, tensor.forward_ns,
                               tensor.layer, tensor.shape});
  }
  return profile;
}

Profile make_profile(const Workload& workload, int ranks, const CollectiveCosts& costs) {
  Profile profile = times_of(workload);
  set_costs(profile, ranks, costs);
  const bool sends = std::any_of(profile.tensors.begin(), profile.tensors.end(),
                                 [](const ProfileTensor& tensor) { return tensor.bytes > 0; });
  if (ranks > 1 && sends) return profile;
  CollectiveCost free;
  free.isolated = CostModel();
  for (auto* cost : {&profile.all_reduce, &profile.all_gather, &profile.reduce_scatter}) {
    if (!*cost) *cost = free;
  }
  return profile;
}

void compress_set(CaseSet& set, const ChoiceConfig& compressor, const CompressorCost& cost,
                  std::uint64_t run_seed) {
  set.compressor = compressor;
  set.spec = compressor_spec(compressor.id, compressor.options, run_seed);
  if (compressor.id == "none") return;
  set_compressor(set.profile, compressor.id, compressor.options);
  set.profile.compressors[compressor.id] = cost;
}

std::uint64_t hash_of(const CaseSet& set, const MergePlan& plan) {
  std::vector<Bytes> bytes;
  for (const ProfileTensor& tensor : set.profile.tensors) bytes.push_back(tensor.bytes);
  return hash(plan, bytes, WireFormat(set.spec, size_of(set.profile.grad_dtype)));
}

namespace {

// Of a strategy that cannot send what this compressor makes.
LeftOut leave_out(const ChoiceConfig& choice, const std::string& reason) {
  PlannedStrategy strategy;
  strategy.strategy = choice.id;
  strategy.planned.options = resolve(make_strategy(choice.id)->options(), choice.options);
  return {std::move(strategy), reason};
}

PlannedStrategy plan_one(const ChoiceConfig& choice, const TimeModel& model, Optima& optima,
                         const Searcher& search) {
  const auto strategy = make_strategy(choice.id);
  PlannedStrategy planned;
  planned.strategy = choice.id;
  if (!search || !strategy->searches()) {
    planned.planned = plan_case(choice.id, choice.options, model, optima);
    return planned;
  }
  Searched searched = search(*strategy, choice.options, model);
  planned.planned =
      judge(std::move(searched.plan), resolve(strategy->options(), choice.options), model, optima);
  planned.probes = std::move(searched.probes);
  planned.cut_short = searched.cut_short;
  planned.failure = std::move(searched.failure);
  return planned;
}

}  // namespace

void plan_strategies(CaseSet& set, const std::vector<ChoiceConfig>& strategies,
                     const Searcher& search) {
  const TimeModel model(set.profile);
  Optima optima(model);
  for (const ChoiceConfig& choice : strategies) {
    try {
      PlannedStrategy planned = plan_one(choice, model, optima, search);
      planned.hash = hash_of(set, planned.planned.plan);
      set.strategies.push_back(std::move(planned));
    } catch (const UnsupportedError& reason) {
      if (model.wire().dense() || !model.has_cost(model.collective())) throw;
      set.left_out.push_back(leave_out(choice, reason.what()));
    }
  }
}

void keep_best(CaseSet& set, std::size_t most) {
  const std::vector<PlannedStrategy>& all = set.strategies;
  const auto iteration = [&](std::size_t i) { return all[i].planned.timeline.iteration_ns; };
  // For each strategy the first one with its plan; those that are their own are ranked.
  std::vector<std::size_t> same_as;
  std::vector<std::size_t> ranked;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t first = 0;
    while (!same_plan(all[first].planned.plan, all[i].planned.plan)) ++first;
    same_as.push_back(first);
    if (first == i) ranked.push_back(i);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](std::size_t a, std::size_t b) { return iteration(a) < iteration(b); });
  std::vector<bool> kept(all.size());
  for (std::size_t place = 0; place < ranked.size(); ++place) {
    kept[ranked[place]] = place < most || all[ranked[place]].strategy == kAlone;
  }
  std::vector<PlannedStrategy> best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kept[i]) {
      best.push_back(all[i]);
      continue;
    }
    const std::string predicted = fmt::format("predicted {}", human_time(iteration(i)));
    const bool repeats = same_as[i] != i && kept[same_as[i]];
    set.left_out.push_back(
        {all[i], repeats
                     ? fmt::format("the same plan as {}: {}", all[same_as[i]].strategy, predicted)
                     : fmt::format("not among the best {} in the model: {}", most, predicted)});
  }
  set.strategies = std::move(best);
}

std::vector<Collective> collectives_of(const std::vector<ChoiceConfig>& strategies,
                                       const std::vector<ChoiceConfig>& compressors,
                                       const Workload& workload) {
  const TimeModel model(times_of(workload));
  std::vector<Collective> all{Collective::kAllReduce};
  const auto add = [&](Collective collective) {
    if (std::find(all.begin(), all.end(), collective) == all.end()) all.push_back(collective);
  };
  for (const ChoiceConfig& compressor : compressors) {
    const WireFormat wire(compressor_spec(compressor.id, compressor.options), sizeof(float));
    add(wire.collective());
    if (!wire.dense()) continue;  // only those that send as the compressor wants do with others
    for (const ChoiceConfig& choice : strategies) {
      for (const Collective collective : make_strategy(choice.id)->collectives(model)) {
        add(collective);
      }
    }
  }
  return all;
}

std::vector<Contestant> contestants_of(const CaseSet& set) {
  std::vector<Contestant> contestants;
  for (const PlannedStrategy& strategy : set.strategies) {
    contestants.push_back(
        {fmt::format("{} / {}, {}", title_of(set), strategy.strategy, counted(set.ranks, "rank")),
         strategy.planned.plan, strategy.hash, strategy.failure});
  }
  return contestants;
}

}  // namespace mergewise
