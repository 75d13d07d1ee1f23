// SPDX-License-Identifier: Apache-2.0
// Names instead of indices, and Horovod's two settings for fusion.
#include "bench/app/export_horovod.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace mergewise {
namespace {

// Horovod counts each tensor's bytes rounded up to this when it compares a group with its threshold
// (HOROVOD_BATCH_D2D_MEMCOPIES, on by default; Horovod 0.28.1, Controller::FuseResponses).
constexpr Bytes kPadding = 16;

void check_sends(const MergePlan& plan) {
  if (is_plain(plan)) return;
  throw InputError(fmt::format(
      "the plan of '{}' cannot be exported to Horovod: it takes groups that are "
      "all-reduced when they are ready, and no compressed groups, no reduce-scatter, no "
      "times of sending and no pieces; export a plan like that of 'mg_wfbp' or "
      "'optimal', without a compressor",
      plan.strategy));
}

}  // namespace

nlohmann::json horovod_document(const MergePlan& plan, const Profile& profile) {
  check_sends(plan);
  nlohmann::json groups = nlohmann::json::array();
  Bytes largest = 0;
  for (const Group& group : plan.groups) {
    nlohmann::json names = nlohmann::json::array();
    Bytes padded = 0;
    for (std::size_t i = group.begin; i < group.end; ++i) {
      names.push_back(profile.tensors[i].name);
      padded += (profile.tensors[i].bytes + kPadding - 1) / kPadding * kPadding;
    }
    groups.push_back(std::move(names));
    largest = std::max(largest, padded);
  }
  return {{"schema", kHorovodSchema},
          {"strategy", plan.strategy},
          {"groups", std::move(groups)},
          {"environment",
           {{"HOROVOD_DISABLE_GROUP_FUSION", "1"},
            {"HOROVOD_FUSION_THRESHOLD", fmt::format("{}", largest)}}}};
}

}  // namespace mergewise
