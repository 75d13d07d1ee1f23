// SPDX-License-Identifier: Apache-2.0
#include "bench/app/session.hpp"

#include "bench/app/compression_error.hpp"
#include "bench/app/compressors.hpp"
#include "bench/app/measured_evaluator.hpp"
#include "bench/app/records.hpp"
#include "bench/app/stop_signals.hpp"
#include "bench/app/workload_compute.hpp"
#include "bench/core/error.hpp"
#include "bench/core/median.hpp"
#include "bench/core/text.hpp"
#include "bench/device/host/host_device.hpp"
#include "bench/replay/calibrate.hpp"
#include "bench/result/environment.hpp"
#include "bench/strategies/registry.hpp"
#include "kernels/compress/host_compressor.hpp"
#include "kernels/compute/gemm_compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace mergewise {
namespace {

constexpr int kLayerIterations = 5;

// Equal on all ranks of one host, whatever their network namespaces.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

// Marks on the communication stream which group is in flight, for verdicts.
Replayer::GroupHook mark_groups(ControlPlane& control) {
  return [plane = &control](Stream& stream, std::int64_t group) {
    as_host(stream).enqueue([plane, group] { plane->set_group(group); });
  };
}

std::string running_medians(const CaseSet& set, const ContestResult& so_far) {
  std::string text;
  for (std::size_t i = 0; i < set.strategies.size(); ++i) {
    const ContestantResult& measured = so_far.contestants[i];
    const auto& samples = measured.samples_ns.empty() ? measured.warmup_ns : measured.samples_ns;
    if (samples.empty()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "  ", set.strategies[i].strategy,
                        human_time(median(samples)));
  }
  return text;
}

}  // namespace

Session::Session(const RunConfig& config, const std::vector<LoadedWorkload>& workloads,
                 ControlPlane& control, const NetworkOptions& network, ResultBook* book,
                 std::size_t shortlist)
    : config_(config),
      workloads_(workloads),
      control_(control),
      network_(network),
      book_(book),
      shortlist_(shortlist),
      device_(make_host_device()),
      progress_(control.rank() == 0),
      timed_(config.compute.mode == "timed"),
      begin_(now()) {
  if (config.link) link_ = LinkModel{config.link->a_us, config.link->gbps};
  const std::string mine = boot_id();
  const auto boots = control.all_gather(mine);
  local_ranks_ = static_cast<int>(std::count(boots.begin(), boots.end(), mine));
}

bool Session::run() {
  check_memory();
  std::size_t sets_left = workloads_.size() * config_.ranks.size() * config_.compressors.size();
  for (const int ranks : config_.ranks) {
    if (!prepare_group(ranks)) return false;
    for (const LoadedWorkload& workload : workloads_) {
      for (const ChoiceConfig& compressor : config_.compressors) {
        if (!run_set(workload, ranks, compressor, sets_left)) return false;
        --sets_left;
      }
    }
  }
  progress_.end_line();
  return true;
}

// Real work's buffers and the gradients of all ranks of this host, before the first of them is
// made: all ranks have looked at the free memory when this ends.
void Session::check_memory() const {
  if (timed_) return;
  // Beside the gradients: the merge buffer and what copies are calibrated with; where they are
  // compressed the means, what is kept of two numbers each, and the messages of a few ranks.
  constexpr Bytes kCompression = 5;
  const bool compresses =
      std::any_of(config_.compressors.begin(), config_.compressors.end(),
                  [](const ChoiceConfig& choice) { return choice.id != "none"; });
  const Bytes copies = (config_.buffers == "copy" ? 3 : 0) + (compresses ? kCompression : 0);
  for (const int ranks : config_.ranks) {
    if (!takes_part(ranks)) continue;
    for (const LoadedWorkload& loaded : workloads_) {
      check_gemm_memory(loaded.workload.layers, (1 + copies) * loaded.total_bytes(),
                        std::min(ranks, local_ranks_));
    }
  }
  control_.barrier();
}

void Session::announce(const std::string& phase) {
  control_.set_phase(phase);
  progress_.show(phase, "", 0);
}

CaseSet Session::describe_set(const LoadedWorkload& loaded, const Workload& workload, int ranks,
                              const ChoiceConfig& compressor) const {
  const RankGroup& group = groups_.at(ranks);
  const bool own = loaded.costs.all_reduce.has_value();
  CaseSet set;
  set.workload = workload.name;
  set.batch = workload.batch;
  set.times = name_of(workload.times);
  set.times_from = workload.times_from;
  set.ranks = ranks;
  set.profile_key = fmt::format("{}/batch {}/{} ranks", workload.name, workload.batch, ranks);
  set.profile = make_profile(workload, ranks, own ? loaded.costs : group.costs);
  set.profile.accumulation = config_.accumulation;
  CompressorCost cost;  // nothing to compress costs nothing
  const auto& known = own ? loaded.compressors : group.compressors;
  const auto found = known.find(own ? compressor.id : label_of(compressor));
  if (found != known.end()) cost = found->second;
  compress_set(set, compressor, cost, config_.seed);
  if (compressor.id != "none") set.profile_key += "/" + label_of(compressor);
  set.link = link_;
  set.timed = timed_;
  if (link_) set.flags.emplace_back("link_emulated");
  if (oversubscribed(ranks)) set.flags.emplace_back("oversubscribed");
  return set;
}

// Communicating occupies a processor while it runs, and so does real compute; held time does not.
bool Session::oversubscribed(int ranks) const {
  const int threads_per_rank = 1 + (timed_ ? 0 : gemm_threads());
  return std::min(ranks, local_ranks_) * threads_per_rank > allowed_processors();
}

void Session::add_to_book(const CaseSet& set, const std::vector<Calibration>& calibrations) {
  if (book_ == nullptr) return;
  book_->add_profile(set.profile_key, set.profile);
  for (Calibration calibration : calibrations) {
    calibration.profile = set.profile_key;
    book_->add_calibration(calibration);
  }
}

// While the other ranks wait for rank 0, some ten milliseconds a case.
void Session::measure_errors(CaseSet& set) const {
  if (book_ == nullptr) return;
  for (PlannedStrategy& strategy : set.strategies) {
    strategy.error = compression_error(set.spec, strategy.planned.plan, set.profile.tensors);
  }
}

bool Session::run_set(const LoadedWorkload& loaded, int ranks, const ChoiceConfig& compressor,
                      std::size_t sets_left) {
  Workload workload = loaded.workload;
  const RankGroup& group = groups_.at(ranks);
  announce(fmt::format("{}, {}: preparing", workload.name, counted(ranks, "rank")));
  std::unique_ptr<Compute> compute;
  std::unique_ptr<Compressor> coder;  // null: gradients are sent as they are
  std::unique_ptr<Replayer> replayer;
  if (takes_part(ranks)) {
    compute = make_compute(workload, timed_);
    if (compressor.id != "none") {
      coder =
          make_host_compressor(compressor_spec(compressor.id, compressor.options, config_.seed));
    }
    replayer = std::make_unique<Replayer>(
        *device_, *group.communicator(), *compute, loaded.tensor_bytes(),
        config_.buffers == "copy" ? Buffers::kCopy : Buffers::kSlice, mark_groups(control_),
        make_iteration(workload, timed_, config_.accumulation),
        Compression{coder.get(), loaded.vectors()});
  }
  if (!timed_) {
    use_measured_times(workload, measure_layers(control_, replayer.get(), kLayerIterations));
  }
  CaseSet set = describe_set(loaded, workload, ranks, compressor);
  if (!add_packing(set.profile, ranks, loaded.total_bytes())) return false;
  plan_strategies(set, config_.strategies,
                  shortlist_ > 0 ? Searcher{} : searcher(set, replayer.get(), sets_left));
  if (stopped_searching_) return false;
  if (shortlist_ > 0) keep_best(set, shortlist_);
  measure_errors(set);
  add_to_book(set, loaded.costs.all_reduce ? std::vector<Calibration>{} : group.calibrations);

  ContestSettings settings = contest_settings(group, set.strategies.size(), sets_left);
  settings.title = fmt::format("{}, {}", title_of(set), counted(ranks, "rank"));
  const ContestResult contest =
      run_contest(control_, replayer.get(), contestants_of(set), settings,
                  [&](const ContestProgress& progress, const ContestResult& so_far) {
                    observe(set, progress, so_far);
                  });
  if (contest.interrupted) return false;
  if (book_ != nullptr) {
    book_->finish_set(make_records(set, contest, block(), config_.seed), make_traces(set, contest),
                      order_of(set, contest));
  }
  return true;
}

// All searches of a set together may take a third of its time.
Searcher Session::searcher(const CaseSet& set, Replayer* replayer, std::size_t sets_left) {
  return [this, &set, replayer, sets_left](const Strategy& strategy, const Options& options,
                                           const TimeModel& model) {
    RaceSettings settings;
    settings.label =
        fmt::format("{} / {}, {}", title_of(set), strategy.id(), counted(set.ranks, "rank"));
    settings.block = config_.iterations.block;
    settings.block_limit_ns = config_.deadline_ns / 4;
    if (config_.budget_ns > 0) {
      const auto searches = std::count_if(
          config_.strategies.begin(), config_.strategies.end(),
          [](const ChoiceConfig& choice) { return make_strategy(choice.id)->searches(); });
      const double share = 3.0 * static_cast<double>(searches);
      settings.finish_by = now() + static_cast<Stamp>(time_left(sets_left) / share);
    }
    settings.stop_requested = stop_requested;
    settings.observe = [&](const Probe& probe) {
      progress_.show(settings.label + ": searching",
                     fmt::format("{} groups {}", probe.ends.size(), human_time(probe.iteration_ns)),
                     0);
    };
    Race race(
        control_, replayer,
        plan_from_ends(strategy.id(), {model.tensor_count()}, model.collective()),
        [&](const MergePlan& plan) { return hash_of(set, plan); }, settings);
    MeasuredEvaluator evaluator(race, strategy.id(), model.collective());
    MergePlan plan = strategy.search(model, options, evaluator);
    stopped_searching_ = stopped_searching_ || race.interrupted();
    return Searched{std::move(plan), race.probes(), race.out_of_budget(), race.failure()};
  };
}

// Of the budget, for each set that is still to come.
Nanoseconds Session::time_left(std::size_t sets_left) const {
  return (config_.budget_ns - static_cast<double>(now() - begin_)) / static_cast<double>(sets_left);
}

std::size_t Session::block() const { return static_cast<std::size_t>(config_.iterations.block); }

ContestSettings Session::contest_settings(const RankGroup& group, std::size_t contestants,
                                          std::size_t sets_left) const {
  ContestSettings settings;
  settings.block = config_.iterations.block;
  // Well below the deadline, so that a long block is not taken for a silent rank.
  settings.block_limit_ns = config_.deadline_ns / 4;
  settings.stopping.target = config_.iterations.target;
  settings.stopping.max_iterations = config_.iterations.max;
  settings.stopping.min_iterations =
      std::min(settings.stopping.min_iterations, config_.iterations.max);
  settings.seed = config_.seed;
  if (config_.budget_ns > 0) {
    const Nanoseconds left = time_left(sets_left);
    settings.finish_by = now() + static_cast<Stamp>(left);
    // So that warming everybody up, with up to six blocks each, takes at most half of it.
    const double blocks = 12.0 * static_cast<double>(contestants);
    settings.block_limit_ns = std::min(settings.block_limit_ns, std::max(left, 0.0) / blocks);
  }
  settings.stop_requested = stop_requested;
  if (group.link) {
    settings.link_counts = [link = group.link.get()] { return link->counts(); };
  }
  return settings;
}

void Session::observe(const CaseSet& set, const ContestProgress& progress,
                      const ContestResult& so_far) {
  if (book_ == nullptr) return;
  book_->update_partial(make_records(set, so_far, block(), config_.seed));
  const std::string& strategy = set.strategies[progress.contestant].strategy;
  // While measuring, the strategy changes with every block: on a terminal only the running medians
  // show that.
  const std::string where =
      progress.phase == "measuring"
          ? fmt::format("{}, {}: measuring", title_of(set), counted(set.ranks, "rank"))
          : fmt::format("{} / {}, {}: {}", title_of(set), strategy, counted(set.ranks, "rank"),
                        progress.phase);
  const bool known =
      progress.time_left_ns < 1e17;  // without a budget nothing bounds the first estimates
  progress_.show(where, running_medians(set, so_far), known ? progress.time_left_ns : 0);
}

}  // namespace mergewise
