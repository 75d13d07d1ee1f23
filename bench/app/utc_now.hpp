// SPDX-License-Identifier: Apache-2.0
// When something began, as files say it.
#pragma once

#include <string>

namespace mergewise {

/// "2026-11-30T12:00:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace mergewise
