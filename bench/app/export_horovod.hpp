// SPDX-License-Identifier: Apache-2.0
// `mergewise plan --export horovod`: a plan in the form that Horovod's optimizers take.
#pragma once

#include "bench/cost/profile.hpp"
#include "bench/plan/merge_plan.hpp"

#include <nlohmann/json_fwd.hpp>

namespace mergewise {

inline constexpr const char* kHorovodSchema = "mergewise/horovod/1";

/// {schema, strategy, groups: [[names]], environment: {NAME: value}}: the groups in the order in
/// which they are ready, and the settings (texts) that make Horovod send each of them whole and
/// alone; docs/torch.md says why these. `plan` is a checked plan of the profile's tensors. Throws
/// InputError unless all groups are all-reduced when they are ready, which is all Horovod can do.
[[nodiscard]] nlohmann::json horovod_document(const MergePlan& plan, const Profile& profile);

}  // namespace mergewise
