// SPDX-License-Identifier: Apache-2.0
#include "bench/app/recommendation.hpp"

#include "bench/app/planning.hpp"

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

constexpr double kLeastGain = 0.01;  // below it nobody would notice

// Those of records that say that a cluster would show other numbers.
constexpr const char* kDistrusted[] = {"oversubscribed", "link_emulated", "few_samples", "unstable",
                                       "machine_bound"};

// By what part `slow` takes longer than `fast`.
Difference slower_by(const CaseRecord& slow, const CaseRecord& fast, std::size_t block,
                     std::uint64_t seed) {
  const Interval ratio = bootstrap_median_ratio(slow.samples_ns, fast.samples_ns, block, seed);
  return {slow.summary->median / fast.summary->median - 1,
          {ratio.low - 1, ratio.high - 1, ratio.confidence}};
}

void compare(Recommendation& found, std::size_t block, std::uint64_t seed) {
  const std::vector<CaseRecord>& measured = found.measured;
  if (measured.size() > 1) {
    found.runner_up_slower = slower_by(measured[1], measured[0], block, seed);
  }
  const auto alone = std::find_if(measured.begin(), measured.end(), [](const CaseRecord& record) {
    return record.strategy == kAlone;
  });
  if (alone == measured.end()) return;
  if (measured.size() == 1) {
    // Nobody has another plan; or nobody else's could be measured, which says nothing.
    if (found.failed.empty()) found.verdict = Verdict::kNoDifference;
    return;
  }
  const bool alone_is_best = alone == measured.begin();
  found.saved = slower_by(measured[alone_is_best ? 1 : 0], *alone, block, seed).negated();
  if (!found.saved->matters()) {
    found.verdict = Verdict::kNoDifference;
  } else {
    found.verdict = alone_is_best ? Verdict::kDoNotMerge : Verdict::kMerge;
  }
}

std::vector<std::string> distrusted_flags(const std::vector<CaseRecord>& measured, bool one_host) {
  std::vector<std::string> flags;
  for (const char* flag : kDistrusted) {
    const bool has = std::any_of(measured.begin(), measured.end(), [&](const CaseRecord& record) {
      return std::find(record.flags.begin(), record.flags.end(), flag) != record.flags.end();
    });
    if (has) flags.emplace_back(flag);
  }
  if (one_host) flags.emplace_back("one_host");
  return flags;
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMerge:
      return "merge";
    case Verdict::kDoNotMerge:
      return "do_not_merge";
    case Verdict::kNoDifference:
      return "no_difference";
    case Verdict::kUnknown:
      break;
  }
  return "unknown";
}

bool Difference::matters() const { return distinguishable() && std::abs(part) >= kLeastGain; }

Recommendation recommend(const std::vector<CaseRecord>& cases, std::size_t block,
                         std::uint64_t seed, bool one_host) {
  Recommendation found;
  for (const CaseRecord& record : cases) {
    if (record.status == CaseStatus::kSkipped) {
      found.left_out.push_back(record);
    } else if (record.status == CaseStatus::kOk && record.summary) {
      found.measured.push_back(record);
    } else {
      found.failed.push_back(record);
    }
  }
  // Stable: of equal medians the first strategy of the list, the simpler one.
  std::stable_sort(found.measured.begin(), found.measured.end(),
                   [](const CaseRecord& a, const CaseRecord& b) {
                     return a.summary->median < b.summary->median;
                   });
  compare(found, block, seed);
  found.flags = distrusted_flags(found.measured, one_host);
  return found;
}

}  // namespace mergewise
