// SPDX-License-Identifier: Apache-2.0
// The invariants of a merge plan, its hash over canonical bytes, and its JSON form.
#include "bench/plan/merge_plan.hpp"

#include "bench/core/error.hpp"
#include "bench/plan/time_model.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string_view>

namespace mergewise {
namespace {

[[noreturn]] void reject(const MergePlan& plan, std::size_t group, const std::string& problem) {
  throw InputError(fmt::format("group {} of the '{}' plan {}", group, plan.strategy, problem));
}

void check_release(const MergePlan& plan, std::size_t index) {
  const auto* not_before = std::get_if<NotBefore>(&plan.groups[index].release);
  if (not_before == nullptr) return;
  const Nanoseconds time = not_before->after_backward_start;
  if (!std::isfinite(time) || time < 0) {
    reject(plan, index,
           fmt::format("is released not before {} ns, expected a finite time >= 0", time));
  }
}

/// The groups [first, last) of one collective cover every tensor once: in ready order, or in
/// forward order.
void check_phase(const MergePlan& plan, std::size_t first, std::size_t last,
                 std::size_t tensor_count) {
  const bool reverse = plan.groups[first].begin > 0;
  std::size_t border = reverse ? tensor_count : 0;  // what is covered so far lies beyond it
  for (std::size_t index = first; index < last; ++index) {
    const Group& group = plan.groups[index];
    if (group.end <= group.begin) {
      reject(plan, index,
             fmt::format("covers tensors [{}, {}), expected at least one tensor", group.begin,
                         group.end));
    }
    if (group.end > tensor_count) {
      reject(plan, index,
             fmt::format("ends at {}, but there are only {} tensors", group.end, tensor_count));
    }
    if (reverse && !is_before_forward(group)) {
      reject(plan, index,
             fmt::format("begins at tensor {}, expected 0: only groups released before a forward "
                         "pass may go in forward order",
                         group.begin));
    }
    if ((reverse ? group.end : group.begin) != border) {
      reject(plan, index,
             fmt::format("{} tensor {}, expected {}: every tensor must be sent exactly once by {}, "
                         "in {} order",
                         reverse ? "ends at" : "begins at", reverse ? group.end : group.begin,
                         border, name_of(group.collective), reverse ? "forward" : "ready"));
    }
    const auto* forward = std::get_if<BeforeForward>(&group.release);
    if (forward != nullptr && forward->issued_with &&
        (*forward->issued_with < first || *forward->issued_with >= index)) {
      reject(plan, index,
             fmt::format("is issued with group {}, expected an earlier group of its phase",
                         *forward->issued_with));
    }
    check_release(plan, index);
    border = reverse ? group.begin : group.end;
  }
  if (border != (reverse ? 0 : tensor_count)) {
    throw InputError(fmt::format("the '{}' plan's {} groups end at tensor {}, expected all {}",
                                 plan.strategy, name_of(plan.groups[first].collective), border,
                                 tensor_count));
  }
}

/// 64-bit FNV-1a, fed with integers in little-endian order so that every rank's machine agrees.
class Fnv1a {
 public:
  void add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) add_byte((value >> shift) & 0xffU);
  }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  /// With its length first, so that neighbouring texts cannot trade characters.
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    for (const char letter : text) add_byte(static_cast<unsigned char>(letter));
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  void add_byte(std::uint64_t byte) { state_ = (state_ ^ byte) * 0x100000001b3U; }
  std::uint64_t state_ = 0xcbf29ce484222325U;
};

void add(Fnv1a& digest, const Release& release) {
  digest.add(std::uint64_t{release.index()});
  if (const auto* forward = std::get_if<BeforeForward>(&release)) {
    // One more than the group, so that 0 is free for "none".
    digest.add(std::uint64_t{forward->issued_with ? *forward->issued_with + 1 : 0});
  } else if (const auto* time = std::get_if<NotBefore>(&release)) {
    digest.add(time->after_backward_start);
  }
}

void add(Fnv1a& digest, const CompressorSpec& compressor) {
  digest.add(std::string_view(compressor.memory));
  for (const double number : {compressor.momentum, compressor.clip}) digest.add(number);
  for (const bool is_so :
       {compressor.group_scale, compressor.sends_indices, compressor.dense_vectors}) {
    digest.add(std::uint64_t{is_so});
  }
  for (const std::int64_t number :
       {compressor.bucket, std::int64_t{compressor.messages}, compressor.warm_up}) {
    digest.add(static_cast<std::uint64_t>(number));
  }
  digest.add(compressor.seed);
}

nlohmann::json to_json(const Release& release) {
  if (const auto* forward = std::get_if<BeforeForward>(&release)) {
    if (!forward->issued_with) return "before_forward";
    return {{"before_forward", {{"issued_with_group", *forward->issued_with}}}};
  }
  if (const auto* time = std::get_if<NotBefore>(&release)) {
    return {{"not_before_ns", time->after_backward_start}};
  }
  return "when_ready";
}

/// All groups are sent by one collective as soon as they are ready.
bool is_simple(const MergePlan& plan) {
  return std::all_of(plan.groups.begin(), plan.groups.end(), [&](const Group& group) {
    return std::holds_alternative<WhenReady>(group.release) &&
           group.collective == plan.groups.front().collective;
  });
}

/// Groups that reach into the next forward pass are the last phase, as a whole.
void check_forward_phase(const MergePlan& plan) {
  const Group& last = plan.groups.back();
  for (std::size_t index = 0; index < plan.groups.size(); ++index) {
    const Group& group = plan.groups[index];
    const bool expected = is_before_forward(last) && group.collective == last.collective;
    if (is_before_forward(group) == expected) continue;
    reject(plan, index,
           fmt::format("is {}released before a forward pass, expected that of all groups of the "
                       "last phase or of none",
                       expected ? "not " : ""));
  }
}

void check_chunking(const MergePlan& plan) {
  if (plan.chunking->partition <= 0 || plan.chunking->credit <= 0) {
    throw InputError(
        fmt::format("the '{}' plan's chunks have {} bytes with {} in flight, expected both > 0",
                    plan.strategy, plan.chunking->partition, plan.chunking->credit));
  }
  for (std::size_t index = 0; index < plan.groups.size(); ++index) {
    const Group& group = plan.groups[index];
    if (group.release == Release{BeforeForward{}} && group.begin >= plan.groups.front().begin &&
        group.collective == plan.groups.front().collective) {
      continue;
    }
    reject(plan, index,
           "is cut into chunks, expected one collective in ready order, released before a forward "
           "pass and issued with no group");
  }
}

}  // namespace

std::vector<std::size_t> MergePlan::ends() const {
  std::vector<std::size_t> ends;
  ends.reserve(groups.size());
  for (const Group& group : groups) {
    if (group.collective == groups.front().collective) ends.push_back(group.end);
  }
  return ends;
}

MergePlan plan_from_ends(std::string strategy, const std::vector<std::size_t>& ends,
                         Collective collective) {
  MergePlan plan{std::move(strategy), {}, std::nullopt};
  plan.groups.reserve(ends.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    plan.groups.push_back({begin, end, collective, WhenReady{}});
    begin = end;
  }
  return plan;
}

bool is_plain(const MergePlan& plan) {
  return !plan.chunking && is_simple(plan) &&
         (plan.groups.empty() || plan.groups.front().collective == Collective::kAllReduce);
}

void check(const MergePlan& plan, std::size_t tensor_count) {
  if (plan.groups.empty()) {
    throw InputError(fmt::format("the '{}' plan has no groups, expected {} tensors to be covered",
                                 plan.strategy, tensor_count));
  }
  std::array<bool, kCollectives.size()> done{};
  for (std::size_t begin = 0; begin < plan.groups.size();) {
    const Collective collective = plan.groups[begin].collective;
    std::size_t end = begin;
    while (end < plan.groups.size() && plan.groups[end].collective == collective) ++end;
    const auto index = static_cast<std::size_t>(collective);
    MERGEWISE_CHECK(index < kCollectives.size(), "an unknown collective");
    if (done[index]) {
      reject(plan, begin,
             fmt::format("goes back to {}: each collective's groups are one phase, in a row",
                         name_of(collective)));
    }
    done[index] = true;
    check_phase(plan, begin, end, tensor_count);
    begin = end;
  }
  check_forward_phase(plan);
  if (plan.chunking) check_chunking(plan);
}

std::uint64_t hash(const MergePlan& plan, const std::vector<Bytes>& tensor_bytes,
                   const WireFormat& wire) {
  Fnv1a digest;
  digest.add(std::string_view(plan.strategy));
  digest.add(std::uint64_t{plan.groups.size()});
  for (const Group& group : plan.groups) {
    digest.add(std::uint64_t{group.begin});
    digest.add(std::uint64_t{group.end});
    digest.add(static_cast<std::uint64_t>(group.collective));
    add(digest, group.release);
  }
  digest.add(std::uint64_t{tensor_bytes.size()});
  for (const Bytes bytes : tensor_bytes) digest.add(static_cast<std::uint64_t>(bytes));
  digest.add(std::string_view(wire.compressor()));
  digest.add(wire.spec().density);
  digest.add(static_cast<std::uint64_t>(wire.element_bytes()));
  if (!wire.dense()) add(digest, wire.spec());
  if (plan.chunking) {
    digest.add(static_cast<std::uint64_t>(plan.chunking->partition));
    digest.add(static_cast<std::uint64_t>(plan.chunking->credit));
  }
  return digest.value();
}

std::uint64_t hash(const MergePlan& plan, const TimeModel& model) {
  std::vector<Bytes> bytes;
  for (std::size_t i = 0; i < model.tensor_count(); ++i) bytes.push_back(model.bytes(i));
  return hash(plan, bytes, model.wire());
}

nlohmann::json to_json(const MergePlan& plan) {
  nlohmann::json document = {
      {"schema", kPlanSchema}, {"strategy", plan.strategy}, {"groups", plan.ends()}};
  if (plan.groups.empty()) return document;
  if (plan.chunking) {
    document["chunking"] = {{"partition_bytes", plan.chunking->partition},
                            {"credit_bytes", plan.chunking->credit}};
  }
  if (is_simple(plan)) {
    document["collective"] = name_of(plan.groups.front().collective);
    return document;
  }
  nlohmann::json& sends = document["sends"];
  for (const Group& group : plan.groups) {
    sends.push_back({{"begin", group.begin},
                     {"end", group.end},
                     {"collective", name_of(group.collective)},
                     {"release", to_json(group.release)}});
  }
  return document;
}

}  // namespace mergewise
