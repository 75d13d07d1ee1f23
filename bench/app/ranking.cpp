// SPDX-License-Identifier: Apache-2.0
#include "bench/app/ranking.hpp"

#include "bench/app/table.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace mergewise {
namespace {

std::string milliseconds(Nanoseconds time) { return fmt::format("{:.1f}", time / 1e6); }

std::string percent(double part) { return fmt::format("{:+.1f} %", part * 100); }

template <typename T, typename F>
std::string or_dash(const std::optional<T>& value, F format) {
  return value ? format(*value) : std::string("-");
}

std::vector<std::string> row_of(const CaseRecord& record) {
  const auto hidden = [](const Breakdown& breakdown) {
    return breakdown.busy_ns > 0
               ? fmt::format("{:.0f} %", breakdown.hidden_ns / breakdown.busy_ns * 100)
               : std::string("-");
  };
  std::vector<std::string> row{record.strategy, fmt::format("{}", record.plan.groups.size())};
  if (!record.summary) {
    row.insert(row.end(), {"-", "-", "-", "-", "-", "-",
                           fmt::format("{}: {}", name_of(record.status), record.reason)});
    return row;
  }
  const Summary& summary = *record.summary;
  row.push_back(fmt::format("{} [{}, {}]", milliseconds(summary.median),
                            milliseconds(summary.interval.low),
                            milliseconds(summary.interval.high)));
  row.push_back(or_dash(record.compute_alone_ns,
                        [&](Nanoseconds alone) { return milliseconds(summary.median - alone); }));
  row.push_back(or_dash(record.breakdown, hidden));
  row.push_back(or_dash(record.predicted_ns, milliseconds));
  row.push_back(or_dash(record.predicted_ns, [&](Nanoseconds predicted) {
    return percent(predicted / summary.median - 1);
  }));
  const auto gap = [&](Nanoseconds optimal) {
    const bool comparable = record.predicted_ns && optimal > 0;
    return comparable ? percent(*record.predicted_ns / optimal - 1) : std::string("-");
  };
  row.push_back(or_dash(record.optimal_ns, gap));
  std::vector<std::string> remarks = record.flags;
  if (record.status != CaseStatus::kOk) {
    remarks.push_back(fmt::format("{}: {}", name_of(record.status), record.reason));
  }
  row.push_back(join(remarks));
  return row;
}

bool same_set(const CaseRecord& a, const CaseRecord& b) {
  return a.workload == b.workload && a.batch == b.batch && a.ranks == b.ranks &&
         a.compressor == b.compressor;
}

double order_key(const CaseRecord& record) {
  return record.summary ? record.summary->median : std::numeric_limits<double>::infinity();
}

}  // namespace

std::string ranking(const std::vector<CaseRecord>& cases) {
  std::string text;
  std::size_t begin = 0;
  while (begin < cases.size()) {
    std::size_t end = begin + 1;
    while (end < cases.size() && same_set(cases[begin], cases[end])) ++end;
    std::vector<CaseRecord> set(cases.begin() + static_cast<std::ptrdiff_t>(begin),
                                cases.begin() + static_cast<std::ptrdiff_t>(end));
    std::stable_sort(set.begin(), set.end(), [](const CaseRecord& a, const CaseRecord& b) {
      return order_key(a) < order_key(b);
    });
    std::vector<std::vector<std::string>> rows;
    for (const CaseRecord& record : set) rows.push_back(row_of(record));
    text +=
        fmt::format("{}, batch {}, {}, compressor {} (times in ms)\n{}\n", set[0].workload,
                    set[0].batch, counted(set[0].ranks, "rank"), set[0].compressor,
                    format_table({"strategy", "groups", "iteration [95 %]", "cost of comm.",
                                  "hidden", "predicted", "pred. error", "over optimum", "remarks"},
                                 rows));
    begin = end;
  }
  return text;
}

}  // namespace mergewise
