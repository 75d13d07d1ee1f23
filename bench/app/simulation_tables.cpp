// SPDX-License-Identifier: Apache-2.0
#include "bench/app/simulation_tables.hpp"

#include "bench/app/table.hpp"
#include "bench/core/median.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>

namespace mergewise {
namespace {

using Cases = std::span<const CaseRecord>;

constexpr double kSame = 0.01;  // times that differ by less are no different, as in reports

Nanoseconds time_of(const CaseRecord& record) {
  return record.predicted_ns.value_or(std::numeric_limits<double>::infinity());
}

std::string milliseconds(Nanoseconds time) { return fmt::format("{:.2f}", time / 1e6); }

std::string percent(double part) { return fmt::format("{:+.1f} %", part * 100); }

bool same_workload(const CaseRecord& a, const CaseRecord& b) {
  return a.workload == b.workload && a.batch == b.batch && a.accelerator == b.accelerator &&
         a.compressor == b.compressor;
}

bool same_set(const CaseRecord& a, const CaseRecord& b) {
  return same_workload(a, b) && a.cluster == b.cluster && a.gbps == b.gbps && a.ranks == b.ranks;
}

// The cases of a set follow each other.
std::vector<Cases> sets_of(Cases cases) {
  std::vector<Cases> sets;
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= cases.size(); ++end) {
    if (end < cases.size() && same_set(cases[begin], cases[end])) continue;
    sets.push_back(cases.subspan(begin, end - begin));
    begin = end;
  }
  return sets;
}

Nanoseconds fastest(Cases set) {
  const auto least = std::min_element(
      set.begin(), set.end(),
      [](const CaseRecord& a, const CaseRecord& b) { return time_of(a) < time_of(b); });
  return time_of(*least);
}

std::string workload_text(const CaseRecord& record) {
  std::string text = fmt::format("{}, batch {}", record.workload, record.batch);
  if (!record.accelerator.empty()) text += fmt::format(", on {}", record.accelerator);
  return text;
}

std::string title_of(const CaseRecord& record) {
  std::string text = workload_text(record) + ", " + counted(record.ranks, "rank");
  text += record.cluster.empty() ? ", the profile's own costs" : ", " + record.cluster;
  if (record.gbps > 0) text += fmt::format(" at {:.6g} Gbit/s", record.gbps);
  return "Simulated: " + text + fmt::format(", compressor {} (times in ms)", record.compressor);
}

// The strategies of a set; with their options where one comes more than once.
std::vector<std::string> labels_of(Cases set) {
  std::vector<std::string> labels;
  for (const CaseRecord& record : set) {
    labels.push_back(record.strategy);
    const auto times = std::count_if(set.begin(), set.end(), [&](const CaseRecord& other) {
      return other.strategy == record.strategy;
    });
    if (times == 1) continue;
    for (const auto& [name, value] : record.options.values()) {
      labels.back() += fmt::format(" {}={}", name, to_string(value));
    }
  }
  return labels;
}

std::vector<std::string> row_of(const CaseRecord& record, const std::string& label,
                                Nanoseconds least) {
  if (!record.predicted_ns) {
    return {label, "-", "-", "-",
            "-",   "-", "-", fmt::format("{}: {}", name_of(record.status), record.reason)};
  }
  const Timeline& timeline = record.predicted;
  const Nanoseconds time = timeline.iteration_ns;
  const bool sends = timeline.comm_busy_ns > 0;
  return {
      label,
      record.plan.groups.empty() ? "-" : fmt::format("{}", record.plan.groups.size()),
      milliseconds(time),
      milliseconds(time - record.compute_alone_ns.value_or(0)),
      sends ? fmt::format("{:.0f} %",
                          100 * std::max(0.0, 1 - timeline.exposed_ns / timeline.comm_busy_ns))
            : "-",
      percent(time / least - 1),
      record.optimal_ns && *record.optimal_ns > 0 ? percent(time / *record.optimal_ns - 1) : "-",
      ""};
}

const CaseRecord* find(Cases set, const std::string& strategy) {
  const auto found = std::find_if(set.begin(), set.end(), [&](const CaseRecord& record) {
    return record.strategy == strategy && record.predicted_ns;
  });
  return found == set.end() ? nullptr : &*found;
}

bool is_slower(const CaseRecord& record, Nanoseconds time) {
  return time_of(record) / time - 1 >= kSame;
}

bool is_fastest(const CaseRecord& record, Nanoseconds least) { return !is_slower(record, least); }

// In how many sets something holds, of those where it could be asked.
struct Tally {
  std::size_t holds = 0;
  std::size_t asked = 0;

  void add(bool held) {
    ++asked;
    if (held) ++holds;
  }
  [[nodiscard]] std::string text() const {
    return asked == 0 ? "-" : fmt::format("{} of {}", holds, asked);
  }
};

// How one entry of the config's strategies does over all sets in which it has a time.
struct Standing {
  std::string label;
  Tally fastest;
  Tally slower_than_wfbp;
  Tally slower_than_single;
  std::vector<double> over_fastest;

  void count(const CaseRecord& record, Cases set, Nanoseconds least) {
    if (!record.predicted_ns) return;
    const auto compare = [&](const char* strategy, Tally& slower) {
      const CaseRecord* other = find(set, strategy);
      if (other != nullptr) slower.add(is_slower(record, time_of(*other)));
    };
    over_fastest.push_back(time_of(record) / least - 1);
    fastest.add(is_fastest(record, least));
    compare("wfbp", slower_than_wfbp);
    compare("single", slower_than_single);
  }

  [[nodiscard]] std::vector<std::string> row() const {
    const bool known = !over_fastest.empty();
    return {label,
            fastest.text(),
            known ? percent(median(over_fastest)) : "-",
            known ? percent(*std::max_element(over_fastest.begin(), over_fastest.end())) : "-",
            slower_than_wfbp.text(),
            slower_than_single.text()};
  }
};

std::string strategies_table(const std::vector<Cases>& sets) {
  std::vector<Standing> standings;
  for (const std::string& label : labels_of(sets.front())) standings.emplace_back().label = label;
  for (const Cases set : sets) {
    const Nanoseconds least = fastest(set);
    for (std::size_t i = 0; i < set.size(); ++i) standings[i].count(set[i], set, least);
  }
  std::stable_sort(standings.begin(), standings.end(), [](const Standing& a, const Standing& b) {
    return a.fastest.holds > b.fastest.holds;
  });
  std::vector<std::vector<std::string>> rows;
  for (const Standing& standing : standings) rows.push_back(standing.row());
  return format_table({"strategy", "fastest in", "over fastest, median", "worst",
                       "slower than wfbp in", "slower than single in"},
                      rows);
}

// Whether merging is worth it, for one workload under one compressor.
std::vector<std::string> workload_row(std::span<const Cases> sets) {
  Tally by_wfbp;
  Tally by_single;
  std::vector<double> gains;
  for (const Cases set : sets) {
    const Nanoseconds least = fastest(set);
    if (const CaseRecord* single = find(set, "single")) by_single.add(is_fastest(*single, least));
    const CaseRecord* wfbp = find(set, "wfbp");
    if (wfbp == nullptr) continue;
    by_wfbp.add(is_fastest(*wfbp, least));
    gains.push_back(time_of(*wfbp) / least);
  }
  const auto factor = [&](double gain) { return fmt::format("{:.2f} x", gain); };
  const CaseRecord& first = sets.front().front();
  return {workload_text(first),
          first.compressor,
          by_wfbp.text(),
          by_single.text(),
          gains.empty() ? "-" : factor(median(gains)),
          gains.empty() ? "-" : factor(*std::max_element(gains.begin(), gains.end()))};
}

std::string workloads_table(const std::vector<Cases>& sets) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t begin = 0; begin < sets.size();) {
    std::size_t end = begin + 1;
    while (end < sets.size() && same_workload(sets[begin].front(), sets[end].front())) ++end;
    rows.push_back(workload_row(std::span(sets).subspan(begin, end - begin)));
    begin = end;
  }
  return format_table({"workload", "compressor", "not merging is best in", "one buffer is best in",
                       "best over wfbp, median", "most"},
                      rows, 2);
}

std::string skipped_text(const std::vector<CaseRecord>& cases) {
  std::map<std::string, std::size_t> reasons;
  for (const CaseRecord& record : cases) {
    if (!record.predicted_ns) ++reasons[record.reason];
  }
  std::string text;
  for (const auto& [reason, count] : reasons) {
    text += fmt::format("skipped {} case{}: {}\n", count, count == 1 ? "" : "s", reason);
  }
  return text;
}

}  // namespace

std::string simulated_ranking(const std::vector<CaseRecord>& cases) {
  std::string text;
  for (const Cases set : sets_of(cases)) {
    const Nanoseconds least = fastest(set);
    const std::vector<std::string> labels = labels_of(set);
    std::vector<std::size_t> order(set.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return time_of(set[a]) < time_of(set[b]);
    });
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t i : order) rows.push_back(row_of(set[i], labels[i], least));
    text += fmt::format("{}\n{}\n", title_of(set.front()),
                        format_table({"strategy", "groups", "iteration", "cost of comm.", "hidden",
                                      "over fastest", "over optimum", "remarks"},
                                     rows));
  }
  return text;
}

std::string simulated_summary(const std::vector<CaseRecord>& cases) {
  const std::vector<Cases> sets = sets_of(cases);
  return fmt::format(
      "Simulated in virtual time, nothing was run: {} cases, {} strategies on {} sets of workload, "
      "network, ranks and compressor.\nTimes that differ by less than {:.0f} % count as "
      "equal.\n\n{}\n{}"
      "\n{}",
      cases.size(), sets.front().size(), sets.size(), kSame * 100, strategies_table(sets),
      workloads_table(sets), skipped_text(cases));
}

}  // namespace mergewise
