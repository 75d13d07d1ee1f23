// SPDX-License-Identifier: Apache-2.0
// From a contest's numbers to the records of the result file.
#pragma once

#include "bench/app/case_set.hpp"
#include "bench/result/result.hpp"
#include "bench/result/trace.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

/// One record per strategy of the set, whatever state the contest is in, then one for each that was
/// left out, as skipped.
[[nodiscard]] std::vector<CaseRecord> make_records(const CaseSet& set, const ContestResult& contest,
                                                   std::size_t block, std::uint64_t seed);
/// The spans of all ranks, for the trace file.
[[nodiscard]] std::vector<TraceCase> make_traces(const CaseSet& set, const ContestResult& contest);
/// "resnet50/wfbp/none/4" for each measured block.
[[nodiscard]] std::vector<std::string> order_of(const CaseSet& set, const ContestResult& contest);

}  // namespace mergewise
