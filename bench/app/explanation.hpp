// SPDX-License-Identifier: Apache-2.0
// Why a plan is as it is: each border with both sides of the inequality that decided it, and what
// the plan leaves to the optimum.
#pragma once

#include "bench/app/planning.hpp"
#include "bench/cost/profile.hpp"
#include "bench/strategies/strategy.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace mergewise {

/// "2.10 % above the optimum (14.2 ms)", or that the plan is optimal, or that it is not bound by
/// the optimum; "" where the optimum is not known.
[[nodiscard]] std::string distance_text(const PlannedCase& planned);

/// For people: a table with a line for each border, the symbols it uses, and the distance to the
/// optimum. `decisions` are those of the plan; names are the profile's.
[[nodiscard]] std::string explanation_text(const PlannedCase& planned, const Decisions& decisions,
                                           const Profile& profile);
/// [{border, after, before, merged, left, left_value, right, right_value, unit, why}, ...]; after
/// and before are the tensors on both sides of the border.
[[nodiscard]] nlohmann::json explanation_json(const Decisions& decisions, const Profile& profile);

}  // namespace mergewise
