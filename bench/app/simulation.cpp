// SPDX-License-Identifier: Apache-2.0
#include "bench/app/simulation.hpp"

#include "bench/app/compressors.hpp"
#include "bench/app/planning.hpp"
#include "bench/core/error.hpp"
#include "bench/result/environment.hpp"
#include "bench/strategies/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

namespace mergewise {
namespace {

// The cases that differ in nothing but the strategy.
struct Set {
  const SimulatedWorkload* workload;
  const ChoiceConfig* compressor;
  const SimulatedNetwork* network;  // null: the workload's own costs
  int ranks;
};

std::vector<Set> sets_of(const Simulation& simulation) {
  std::vector<Set> sets;
  for (const SimulatedWorkload& workload : simulation.workloads) {
    for (const ChoiceConfig& compressor : simulation.compressors) {
      if (simulation.networks.empty()) {
        sets.push_back({&workload, &compressor, nullptr, workload.profile.ranks.value_or(1)});
      }
      for (const SimulatedNetwork& network : simulation.networks) {
        for (const int ranks : simulation.ranks) {
          sets.push_back({&workload, &compressor, &network, ranks});
        }
      }
    }
  }
  return sets;
}

std::string workload_key(const SimulatedWorkload& workload) {
  return workload.accelerator.empty()
             ? fmt::format("{}/batch {}", workload.profile.name, workload.batch)
             : fmt::format("{}/batch {}/{}", workload.profile.name, workload.batch,
                           workload.accelerator);
}

std::string bandwidth_text(const SimulatedNetwork& network) {
  return network.gbps > 0 ? fmt::format(" {} Gbit/s", network.gbps) : std::string();
}

std::string set_key(const Set& set) {
  std::string key = workload_key(*set.workload);
  if (set.network != nullptr) {
    key += fmt::format("/{}{}", set.network->cluster.name, bandwidth_text(*set.network));
  }
  return fmt::format("{}/{} ranks/{}", key, set.ranks, label_of(*set.compressor));
}

Profile profile_of(const Set& set) {
  Profile profile = set.workload->profile;
  set_compressor(profile, set.compressor->id, set.compressor->options);
  if (set.network == nullptr) return profile;
  set_costs(profile, set.ranks, costs_of(set.network->cluster, set.ranks));
  return profile;
}

Profile without_collectives(Profile profile) {
  profile.ranks.reset();
  profile.all_reduce.reset();
  profile.all_gather.reset();
  profile.reduce_scatter.reset();
  return profile;
}

Nanoseconds compute_alone(const Profile& profile) {
  Nanoseconds backward = 0;
  for (const ProfileTensor& tensor : profile.tensors) backward += tensor.backward_ns;
  return profile.accumulation * (profile.forward_ns + backward);
}

// A case of the set that is skipped until something is known.
CaseRecord blank_record(const Set& set, const ChoiceConfig& strategy) {
  CaseRecord record;
  const SimulatedWorkload& workload = *set.workload;
  record.workload = workload.profile.name;
  record.batch = workload.batch;
  record.times = workload.times;
  record.times_from = workload.times_from;
  record.strategy = strategy.id;
  const auto planner = make_strategy(strategy.id);
  record.options = resolve(planner->options(), strategy.options);
  record.within_optimal = planner->within_optimal();
  record.compressor = label_of(*set.compressor);
  record.ranks = set.ranks;
  record.accelerator = workload.accelerator;
  if (set.network != nullptr) {
    record.cluster = set.network->cluster.name;
    record.gbps = set.network->gbps;
  }
  record.compute_alone_ns = compute_alone(workload.profile);
  return record;
}

// `optimal` is not searched for where even its distance to others would cost too much.
void require_optimum(const TimeModel& model, std::optional<Nanoseconds> optimal) {
  if (optimal) return;
  model.require_cost(model.collective(), "strategy 'optimal'");
  throw UnsupportedError(
      "the exact optimum is not known here: more than 5,000 tensors, or the search reached its "
      "limit");
}

// In words of the cluster's description, where that is what lacks a cost.
void require_published(const CaseRecord& record, const Set& set, const TimeModel& model) {
  if (set.network == nullptr || !set.network->cluster.published()) return;
  for (const Collective collective : make_strategy(record.strategy)->collectives(model)) {
    if (model.has_cost(collective)) continue;
    throw UnsupportedError(fmt::format(
        "cluster '{0}' has no published cost of '{1}' between {2} GPUs, which strategy '{3}' "
        "needs: add `{1}: [{{ranks: {2}, a_us: .., b_ns_per_byte: ..}}]` to its description, or "
        "choose another cluster, strategy or compressor",
        set.network->cluster.name, name_of(collective), set.ranks, record.strategy));
  }
}

void plan(CaseRecord& record, const Set& set, const TimeModel& model, Optima& optima,
          bool compact) {
  record.optimal_ns = optima.of(record.options);
  try {
    require_published(record, set, model);
    if (record.strategy == "optimal") require_optimum(model, record.optimal_ns);
    PlannedCase planned = plan_case(record.strategy, record.options, model, optima);
    record.status = CaseStatus::kOk;
    record.predicted = std::move(planned.timeline);
    record.predicted_ns = record.predicted.iteration_ns;
    if (compact) {
      record.predicted.spans = {};
      return;
    }
    record.plan_hash = fmt::format("{:016x}", hash(planned.plan, model));
    record.plan = std::move(planned.plan);
  } catch (const UnsupportedError& reason) {
    record.reason = reason.what();
  }
}

// A case keeps a span or more, and a set a line of its profile, for each tensor.
bool keeps_all(const std::vector<Set>& sets, std::size_t strategies) {
  std::size_t tensors = 0;
  for (const Set& set : sets) tensors += set.workload->profile.tensors.size() * strategies;
  return sets.size() * strategies <= kMostFullCases && tensors <= kMostFullTensors;
}

struct SimulatedSet {
  std::vector<CaseRecord> records;
  std::optional<Profile> profile;  // where the result keeps it
};

SimulatedSet simulate_set(const Set& set, const std::vector<ChoiceConfig>& strategies,
                          bool compact) {
  SimulatedSet simulated;
  for (const ChoiceConfig& strategy : strategies) {
    simulated.records.push_back(blank_record(set, strategy));
    simulated.records.back().profile = compact ? workload_key(*set.workload) : set_key(set);
  }
  Profile profile;
  try {
    profile = profile_of(set);
  } catch (const InputError& reason) {
    for (CaseRecord& record : simulated.records) record.reason = reason.what();
    if (!compact) simulated.profile = set.workload->profile;
    return simulated;
  }
  const TimeModel model(profile);
  Optima optima(model);
  for (CaseRecord& record : simulated.records) plan(record, set, model, optima, compact);
  if (!compact) simulated.profile = std::move(profile);
  return simulated;
}

// Calls work(0) .. work(count - 1) on the threads. The failure of the lowest number is thrown, so
// that it is the same one every time.
template <typename Work>
void in_parallel(std::size_t count, int threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> first_failed{count};
  std::vector<std::exception_ptr> failures(count);
  const auto loop = [&] {
    for (std::size_t i = next++; i < first_failed; i = next++) {
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
        std::size_t lowest = first_failed;
        while (i < lowest && !first_failed.compare_exchange_weak(lowest, i)) {
        }
      }
    }
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back(loop);
  loop();
  for (std::thread& helper : helpers) helper.join();
  if (first_failed < count) std::rethrow_exception(failures[first_failed]);
}

}  // namespace

Result simulate(const Simulation& simulation, int threads) {
  const std::vector<Set> sets = sets_of(simulation);
  const bool compact = !keeps_all(sets, simulation.strategies.size());
  std::vector<SimulatedSet> simulated(sets.size());
  in_parallel(sets.size(), threads, [&](std::size_t i) {
    simulated[i] = simulate_set(sets[i], simulation.strategies, compact);
  });
  Result result;
  result.name = simulation.name;
  result.simulated = true;
  result.environment = describe_program();
  result.config = simulation.config;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (compact) {
      result.profiles.try_emplace(workload_key(*sets[i].workload),
                                  without_collectives(sets[i].workload->profile));
    } else {
      result.profiles.try_emplace(set_key(sets[i]), std::move(*simulated[i].profile));
    }
    std::move(simulated[i].records.begin(), simulated[i].records.end(),
              std::back_inserter(result.cases));
  }
  result.complete = true;
  return result;
}

}  // namespace mergewise
