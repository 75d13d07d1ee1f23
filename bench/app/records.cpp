// SPDX-License-Identifier: Apache-2.0
#include "bench/app/records.hpp"

#include "bench/app/calibration_facts.hpp"
#include "bench/app/compressors.hpp"
#include "bench/core/median.hpp"
#include "bench/core/text.hpp"
#include "bench/stats/summary.hpp"
#include "bench/strategies/registry.hpp"
#include "kernels/compress/host_compressor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

constexpr std::size_t kFewSamples = 10;
constexpr double kMachineBound = 0.05;  // beyond this the link was not the bottleneck

void set_status(CaseRecord& record, const ContestantResult& measured,
                const ContestResult& contest) {
  record.verified = measured.verified;
  if (!measured.failure.empty()) {
    record.status = CaseStatus::kFailed;
    record.reason = measured.failure;
  } else if (measured.verified && !measured.samples_ns.empty() && !measured.stopped.empty() &&
             !contest.interrupted) {
    record.status = CaseStatus::kOk;
  } else {
    record.status = CaseStatus::kPartial;
    record.reason = contest.interrupted     ? "stopped by a signal"
                    : contest.out_of_budget ? "the budget ran out before it was measured"
                                            : "still being measured";
  }
}

// Compute beside communication against compute alone; needs real work to mean anything.
std::optional<Nanoseconds> tax(const CaseSet& set, const CaseRecord& record) {
  if (set.timed || !record.breakdown || !record.compute_alone_ns) return std::nullopt;
  for (const auto& [label, time] : record.breakdown->labels_ns) {
    if (label == "compute") return time - *record.compute_alone_ns;
  }
  return std::nullopt;
}

void set_flags(CaseRecord& record, const CaseSet& set, const ContestantResult& measured,
               bool cut_short) {
  record.flags = set.flags;
  if (cut_short) record.flags.emplace_back("search_cut_short");
  if (measured.unstable && !measured.warmup_ns.empty()) record.flags.emplace_back("unstable");
  if (!record.summary) return;
  if (record.summary->count < kFewSamples) record.flags.emplace_back("few_samples");
  if (set.link && record.predicted_ns &&
      std::abs(*record.predicted_ns / record.summary->median - 1) > kMachineBound) {
    record.flags.emplace_back("machine_bound");
  }
}

// Nothing for dense gradients.
std::optional<CompressionRecord> compression_of(const CaseSet& set,
                                                const PlannedStrategy& strategy) {
  if (set.compressor.id == "none") return std::nullopt;
  const TimeModel model(set.profile);
  const CompressorCost& cost = set.profile.compressors.at(set.compressor.id);
  CompressionRecord record;
  record.id = set.compressor.id;
  record.options = resolve(compressor_options(record.id), set.compressor.options);
  record.dense_bytes = model.bytes(0, model.tensor_count());
  record.memory_bytes =
      static_cast<Bytes>(make_host_compressor(set.spec)->memory_floats()) * record.dense_bytes;
  for (const Group& group : strategy.planned.plan.groups) {
    const Bytes dense = model.bytes(group.begin, group.end);
    record.planned_bytes += model.wire_bytes(group.begin, group.end);
    record.planned_compress_ns += cost.compress(dense);
    record.planned_decompress_ns += cost.decompress(dense);
  }
  record.copies = bus_factor(model.collective(), set.ranks);
  record.dense_copies = bus_factor(Collective::kAllReduce, set.ranks);
  record.error = strategy.error;
  return record;
}

// The totals are those of all ranks.
void count(CompressionRecord& record, const MessageTotals& totals, const CaseSet& set) {
  record.nans = totals.nans;
  record.infinities = totals.infinities;
  if (totals.iterations == 0) return;
  record.message_bytes = static_cast<double>(totals.bytes) /
                         (static_cast<double>(totals.iterations) * static_cast<double>(set.ranks));
}

// What is known before anything is measured.
CaseRecord planned_record(const CaseSet& set, const PlannedStrategy& strategy) {
  CaseRecord record;
  record.workload = set.workload;
  record.batch = set.batch;
  record.times = set.times;
  record.times_from = set.times_from;
  record.strategy = strategy.strategy;
  record.options = strategy.planned.options;
  record.compressor = label_of(set.compressor);
  record.compression = compression_of(set, strategy);
  record.ranks = set.ranks;
  record.plan = strategy.planned.plan;
  record.plan_hash = fmt::format("{:016x}", strategy.hash);
  record.profile = set.profile_key;
  record.predicted = strategy.planned.timeline;
  record.predicted_ns = strategy.planned.timeline.iteration_ns;
  record.optimal_ns = strategy.planned.optimal_ns;
  record.within_optimal = make_strategy(strategy.strategy)->within_optimal();
  record.probes = strategy.probes;
  return record;
}

CaseRecord skipped_record(const CaseSet& set, const LeftOut& left_out) {
  CaseRecord record = planned_record(set, left_out.strategy);
  if (record.plan.groups.empty()) {  // what it cannot send was not planned
    record.plan_hash.clear();
    record.predicted_ns.reset();
    record.compression.reset();
  }
  record.status = CaseStatus::kSkipped;
  record.reason = left_out.reason;
  record.flags = set.flags;
  return record;
}

CaseRecord make_record(const CaseSet& set, std::size_t index, const ContestResult& contest,
                       std::size_t block, std::uint64_t seed) {
  const PlannedStrategy& strategy = set.strategies[index];
  const ContestantResult& measured = contest.contestants[index];
  CaseRecord record = planned_record(set, strategy);
  set_status(record, measured, contest);
  record.warmup_ns = measured.warmup_ns;
  record.samples_ns = measured.samples_ns;
  record.stopped = measured.stopped;
  if (!measured.samples_ns.empty()) record.summary = summarize(measured.samples_ns, block, seed);
  if (!contest.compute_alone_ns.empty()) {
    record.compute_alone_ns = median(contest.compute_alone_ns);
  }
  if (record.compression && measured.messages) count(*record.compression, *measured.messages, set);
  record.breakdown = measured.breakdown;
  record.tax_ns = tax(set, record);
  if (set.link) {
    record.link = LinkRecord{set.link->a_us, set.link->gbps, measured.link.collectives,
                             measured.link.overran};
  }
  std::copy_if(measured.spans.begin(), measured.spans.end(), std::back_inserter(record.spans),
               [](const MeasuredSpan& span) { return span.rank == 0; });
  set_flags(record, set, measured, strategy.cut_short);
  return record;
}

}  // namespace

std::vector<CaseRecord> make_records(const CaseSet& set, const ContestResult& contest,
                                     std::size_t block, std::uint64_t seed) {
  std::vector<CaseRecord> records;
  for (std::size_t i = 0; i < set.strategies.size(); ++i) {
    records.push_back(make_record(set, i, contest, block, seed));
  }
  for (const LeftOut& left_out : set.left_out) records.push_back(skipped_record(set, left_out));
  return records;
}

std::vector<TraceCase> make_traces(const CaseSet& set, const ContestResult& contest) {
  std::vector<TraceCase> traces;
  for (std::size_t i = 0; i < set.strategies.size(); ++i) {
    if (contest.contestants[i].spans.empty()) continue;
    traces.push_back({fmt::format("{} {}, {}", title_of(set), set.strategies[i].strategy,
                                  counted(set.ranks, "rank")),
                      contest.contestants[i].spans, set.strategies[i].planned.timeline});
  }
  return traces;
}

std::vector<std::string> order_of(const CaseSet& set, const ContestResult& contest) {
  std::vector<std::string> order;
  for (const std::size_t i : contest.order) {
    order.push_back(fmt::format("{}/{}/{}/{}", set.workload, set.strategies[i].strategy,
                                label_of(set.compressor), set.ranks));
  }
  return order;
}

}  // namespace mergewise
