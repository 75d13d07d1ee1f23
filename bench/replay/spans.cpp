// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/spans.hpp"

#include "bench/core/error.hpp"
#include "bench/replay/exchange.hpp"
#include "bench/stats/intervals.hpp"
#include "bench/stats/summary.hpp"

#include <algorithm>
#include <map>

namespace mergewise {
namespace {

// Clock readings of one span as doubles on rank 0's clock.
struct Timed {
  Lane lane;
  Activity activity;
  std::size_t index;
  double begin;
  double end;
};

struct TimedIteration {
  double begin = 0;
  double end = 0;
  std::vector<Timed> spans;
};

// This rank's clock minus rank 0's at an instant, by the line through the two samples.
double offset_at(const RankStamps& rank, Stamp at) {
  const double span = static_cast<double>(rank.after.at - rank.before.at);
  if (span <= 0) return rank.before.offset_ns;
  const double part = static_cast<double>(at - rank.before.at) / span;
  return rank.before.offset_ns + part * (rank.after.offset_ns - rank.before.offset_ns);
}

// Counted from `origin` (a stamp of rank 0), so that doubles hold nanoseconds exactly.
TimedIteration on_common_clock(const RankStamps& rank, const IterationStamps& stamps,
                               Stamp origin) {
  const double offset = offset_at(rank, stamps.begin);
  const auto shift = [&](Stamp stamp) { return static_cast<double>(stamp - origin) - offset; };
  TimedIteration result{shift(stamps.begin), shift(stamps.end), {}};
  for (const StampedSpan& span : stamps.spans) {
    result.spans.push_back(
        {span.lane, span.activity, span.index, shift(span.begin), shift(span.end)});
  }
  return result;
}

// The spans of one rank's iteration from its own start. `arrivals`: for each span, when its last
// rank began it.
std::vector<MeasuredSpan> spans_of(int rank, const TimedIteration& it,
                                   const std::vector<double>& arrivals) {
  std::vector<MeasuredSpan> spans;
  const auto add = [&](const Timed& span, const char* activity, double begin, double end) {
    if (end > begin) {
      spans.push_back({rank, span.lane, activity, span.index, begin - it.begin, end - it.begin});
    }
  };
  for (std::size_t i = 0; i < it.spans.size(); ++i) {
    const Timed& span = it.spans[i];
    if (span.activity != Activity::kTransfer) {
      add(span, name_of(span.activity), span.begin, span.end);
      continue;
    }
    const double arrived = std::clamp(arrivals[i], span.begin, span.end);
    add(span, "wait", span.begin, arrived);
    add(span, name_of(span.activity), arrived, span.end);
  }
  return spans;
}

std::vector<Stretch> stretches_of(const std::vector<MeasuredSpan>& spans,
                                  const std::vector<std::string>& activities) {
  std::vector<Stretch> stretches;
  for (const MeasuredSpan& span : spans) {
    if (std::find(activities.begin(), activities.end(), span.activity) != activities.end()) {
      stretches.emplace_back(span.begin, span.end);
    }
  }
  return union_of(std::move(stretches));
}

void add_breakdown(Breakdown& sum, const std::vector<MeasuredSpan>& spans, double length_ns) {
  const auto compute = stretches_of(spans, {"forward", "backward"});
  const auto communication = stretches_of(spans, {"wait", "transfer"});
  const auto labels = label_time(0, length_ns,
                                 {{"compute", compute},
                                  {"pack", stretches_of(spans, {"pack", "unpack"})},
                                  {"update", {}},
                                  {"transfer", stretches_of(spans, {"transfer"})},
                                  {"wait", stretches_of(spans, {"wait"})}});
  if (sum.labels_ns.empty()) {
    for (const auto& [label, time] : labels) sum.labels_ns.emplace_back(label, 0.0);
  }
  for (std::size_t i = 0; i < labels.size(); ++i) sum.labels_ns[i].second += labels[i].second;
  const double busy = length(communication);
  const double exposed = length(difference(communication, compute));
  sum.iteration_ns += length_ns;
  sum.busy_ns += busy;
  sum.exposed_ns += exposed;
  sum.hidden_ns += busy - exposed;
}

void divide(Breakdown& sum, double count) {
  for (auto& [label, time] : sum.labels_ns) time /= count;
  for (double* value : {&sum.iteration_ns, &sum.busy_ns, &sum.exposed_ns, &sum.hidden_ns}) {
    *value /= count;
  }
}

std::vector<double> last_arrivals(const std::vector<TimedIteration>& of_ranks) {
  std::vector<double> arrivals;
  for (const Timed& span : of_ranks.front().spans) arrivals.push_back(span.begin);
  for (const TimedIteration& it : of_ranks) {
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      arrivals[i] = std::max(arrivals[i], it.spans.at(i).begin);
    }
  }
  return arrivals;
}

constexpr std::size_t kSpanNumbers = 5;

}  // namespace

std::string encode(const RankStamps& stamps) {
  const std::vector<double> clock{stamps.before.offset_ns, stamps.before.error_ns,
                                  stamps.after.offset_ns, stamps.after.error_ns};
  std::vector<Stamp> values{stamps.rank, stamps.before.at, stamps.after.at};
  for (const IterationStamps& it : stamps.iterations) {
    values.insert(values.end(), {it.begin, it.end, static_cast<Stamp>(it.spans.size())});
    for (const StampedSpan& span : it.spans) {
      values.insert(values.end(), {static_cast<Stamp>(span.lane), static_cast<Stamp>(span.activity),
                                   static_cast<Stamp>(span.index), span.begin, span.end});
    }
  }
  return to_bytes(clock) + to_bytes(values);
}

RankStamps decode(std::string_view bytes) {
  constexpr std::size_t kClockBytes = 4 * sizeof(double);
  MERGEWISE_CHECK(bytes.size() >= kClockBytes + 3 * sizeof(Stamp), "stamps are complete");
  const auto clock = from_bytes<double>(bytes.substr(0, kClockBytes));
  const auto values = from_bytes<Stamp>(bytes.substr(kClockBytes));
  RankStamps result;
  result.rank = static_cast<int>(values[0]);
  result.before = {values[1], clock[0], clock[1]};
  result.after = {values[2], clock[2], clock[3]};
  for (std::size_t at = 3; at + 3 <= values.size();) {
    IterationStamps it{values[at], values[at + 1], {}};
    const auto count = static_cast<std::size_t>(values[at + 2]);
    at += 3;
    MERGEWISE_CHECK(count <= (values.size() - at) / kSpanNumbers, "stamps are complete");
    for (std::size_t i = 0; i < count; ++i, at += kSpanNumbers) {
      it.spans.push_back({static_cast<Lane>(values[at]), static_cast<Activity>(values[at + 1]),
                          static_cast<std::size_t>(values[at + 2]), values[at + 3],
                          values[at + 4]});
    }
    result.iterations.push_back(std::move(it));
  }
  return result;
}

SpanSummary summarize_spans(const std::vector<RankStamps>& ranks) {
  MERGEWISE_CHECK(!ranks.empty() && !ranks[0].iterations.empty(), "there are stamps");
  const Stamp origin = ranks[0].iterations[0].begin;
  const std::size_t count = ranks[0].iterations.size();
  const std::size_t first = count > 1 ? 1 : 0;
  SpanSummary summary;
  std::vector<std::vector<MeasuredSpan>> spans_by_iteration;
  for (std::size_t k = first; k < count; ++k) {
    std::vector<TimedIteration> of_ranks;
    double longest = 0;
    for (const RankStamps& rank : ranks) {
      of_ranks.push_back(on_common_clock(rank, rank.iterations.at(k), origin));
      longest = std::max(longest, of_ranks.back().end - of_ranks.back().begin);
    }
    const auto arrivals = last_arrivals(of_ranks);
    std::vector<MeasuredSpan> all;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const auto spans = spans_of(ranks[r].rank, of_ranks[r], arrivals);
      add_breakdown(summary.breakdown, spans, of_ranks[r].end - of_ranks[r].begin);
      all.insert(all.end(), spans.begin(), spans.end());
    }
    spans_by_iteration.push_back(std::move(all));
    summary.iterations_ns.push_back(longest);
  }
  divide(summary.breakdown, static_cast<double>(summary.iterations_ns.size() * ranks.size()));
  for (const RankStamps& rank : ranks) {
    summary.breakdown.clock_error_ns =
        std::max({summary.breakdown.clock_error_ns, rank.before.error_ns, rank.after.error_ns});
  }
  std::vector<std::size_t> by_length(summary.iterations_ns.size());
  for (std::size_t i = 0; i < by_length.size(); ++i) by_length[i] = i;
  std::sort(by_length.begin(), by_length.end(), [&](std::size_t a, std::size_t b) {
    return summary.iterations_ns[a] < summary.iterations_ns[b];
  });
  summary.spans = std::move(spans_by_iteration[by_length[by_length.size() / 2]]);
  return summary;
}

}  // namespace mergewise
