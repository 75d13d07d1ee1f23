// SPDX-License-Identifier: Apache-2.0
// The invariants of a merge plan, its hash over canonical bytes, and its JSON form.
#include "bench/plan/merge_plan.hpp"

#include "bench/core/error.hpp"

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
  if (const auto* layer = std::get_if<BeforeForward>(&release)) {
    digest.add(std::uint64_t{layer->layer});
  } else if (const auto* time = std::get_if<NotBefore>(&release)) {
    digest.add(time->after_backward_start);
  }
}

nlohmann::json to_json(const Release& release) {
  if (const auto* layer = std::get_if<BeforeForward>(&release)) {
    return {{"before_forward_of_layer", layer->layer}};
  }
  if (const auto* time = std::get_if<NotBefore>(&release)) {
    return {{"not_before_ns", time->after_backward_start}};
  }
  return "when_ready";
}

/// True when the group ends and one collective say everything.
bool is_simple(const MergePlan& plan) {
  return std::all_of(plan.groups.begin(), plan.groups.end(), [&](const Group& group) {
    return std::holds_alternative<WhenReady>(group.release) &&
           group.collective == plan.groups.front().collective;
  });
}

}  // namespace

std::vector<std::size_t> MergePlan::ends() const {
  std::vector<std::size_t> ends;
  ends.reserve(groups.size());
  for (const Group& group : groups) ends.push_back(group.end);
  return ends;
}

MergePlan plan_from_ends(std::string strategy, const std::vector<std::size_t>& ends,
                         Collective collective) {
  MergePlan plan{std::move(strategy), {}};
  plan.groups.reserve(ends.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    plan.groups.push_back({begin, end, collective, WhenReady{}});
    begin = end;
  }
  return plan;
}

void check(const MergePlan& plan, std::size_t tensor_count) {
  constexpr std::size_t kPhases = 3;
  std::array<std::size_t, kPhases> covered{};  // by the groups of each collective so far
  std::array<bool, kPhases> present{};
  for (std::size_t index = 0; index < plan.groups.size(); ++index) {
    const Group& group = plan.groups[index];
    const auto phase = static_cast<std::size_t>(group.collective);
    MERGEWISE_CHECK(phase < kPhases, "a collective without a phase");
    if (group.begin != covered[phase]) {
      reject(plan, index,
             fmt::format("begins at tensor {}, expected {}: every tensor must be sent exactly once "
                         "by {}, in ready order",
                         group.begin, covered[phase], name_of(group.collective)));
    }
    if (group.end <= group.begin) {
      reject(plan, index,
             fmt::format("covers tensors [{}, {}), expected at least one tensor", group.begin,
                         group.end));
    }
    if (group.end > tensor_count) {
      reject(plan, index,
             fmt::format("ends at {}, but there are only {} tensors", group.end, tensor_count));
    }
    check_release(plan, index);
    covered[phase] = group.end;
    present[phase] = true;
  }
  if (plan.groups.empty()) {
    throw InputError(fmt::format("the '{}' plan has no groups, expected {} tensors to be covered",
                                 plan.strategy, tensor_count));
  }
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    if (!present[phase] || covered[phase] == tensor_count) continue;
    throw InputError(fmt::format("the '{}' plan's {} groups end at tensor {}, expected all {}",
                                 plan.strategy, name_of(static_cast<Collective>(phase)),
                                 covered[phase], tensor_count));
  }
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
  digest.add(std::string_view(wire.compressor));
  digest.add(wire.density);
  digest.add(static_cast<std::uint64_t>(wire.element_bytes));
  return digest.value();
}

nlohmann::json to_json(const MergePlan& plan) {
  nlohmann::json document = {
      {"schema", kPlanSchema}, {"strategy", plan.strategy}, {"groups", plan.ends()}};
  if (plan.groups.empty()) return document;
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
