// SPDX-License-Identifier: Apache-2.0
// A plan with its tensors' names and its prediction as JSON (mergewise/plan/1): what
// `mergewise plan` prints and writes, and what mergewise_torch applies.
#pragma once

#include "bench/app/planning.hpp"
#include "bench/cost/profile.hpp"

#include <nlohmann/json_fwd.hpp>

namespace mergewise {

/// `planned` is a case of `profile`. Null for what is not known.
[[nodiscard]] nlohmann::json plan_document(const PlannedCase& planned, const Profile& profile);

}  // namespace mergewise
