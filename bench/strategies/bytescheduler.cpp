// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/bytescheduler.hpp"

#include <numeric>

namespace mergewise {
namespace {

// What the published system's documentation suggests for all-reduce: 8 and 16 million parameters,
// here of 4 bytes.
constexpr Bytes kDefaultPartition = 32'000'000;
constexpr Bytes kDefaultCredit = 64'000'000;

OptionSpec bytes_option(std::string name, std::string summary, Bytes value) {
  return {.name = std::move(name),
          .kind = OptionKind::kInteger,
          .summary = std::move(summary),
          .default_value = value,
          .minimum = 1,
          .choices = {}};
}

}  // namespace

std::vector<OptionSpec> Bytescheduler::do_options() const {
  return {bytes_option("partition", "gradients are cut into chunks of at most this many bytes",
                       kDefaultPartition),
          bytes_option("credit", "bytes that the network is given at a time; one chunk always may",
                       kDefaultCredit)};
}

std::vector<Collective> Bytescheduler::do_collectives(const TimeModel& model) const {
  model.require_dense("strategy 'bytescheduler'");
  return {Collective::kAllReduce};
}

MergePlan Bytescheduler::do_plan(const Task& task) const {
  const std::size_t count = task.model.tensor_count();
  std::vector<std::size_t> ends(count);
  std::iota(ends.begin(), ends.end(), std::size_t{1});
  MergePlan plan = plan_from_ends(id(), ends);
  for (Group& group : plan.groups) group.release = BeforeForward{};
  plan.chunking = Chunking{task.options.integer("partition"), task.options.integer("credit")};
  for (std::size_t border = 1; task.decisions != nullptr && border < count; ++border) {
    Decision decision;
    decision.border = border;
    decision.why = "every gradient is cut and sent alone, whatever its size";
    task.decisions->push_back(std::move(decision));
  }
  return plan;
}

}  // namespace mergewise
