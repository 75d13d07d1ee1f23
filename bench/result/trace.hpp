// SPDX-License-Identifier: Apache-2.0
// Spans as Chrome trace JSON, which opens in Perfetto and chrome://tracing.
#pragma once

#include "bench/result/result.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace mergewise {

/// The measured spans of all ranks of one case: a process per case and rank, a thread per lane; the
/// predicted timeline as one more process.
struct TraceCase {
  std::string title;                ///< "resnet50 wfbp, 4 ranks"
  std::vector<MeasuredSpan> spans;  ///< of all ranks; one iteration
  Timeline predicted;
};
[[nodiscard]] nlohmann::json to_chrome_trace(const std::vector<TraceCase>& cases);

}  // namespace mergewise
