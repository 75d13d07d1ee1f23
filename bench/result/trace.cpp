// SPDX-License-Identifier: Apache-2.0
// Chrome's trace event format: "X" events with microseconds; "M" events name processes and threads.
#include "bench/result/trace.hpp"

#include <fmt/format.h>

#include <set>

namespace mergewise {
namespace {

using nlohmann::json;

constexpr double kNanosecondsPerMicrosecond = 1000;

int thread_of(Lane lane) { return lane == Lane::kCompute ? 1 : 2; }

class TraceWriter {
 public:
  /// Starts a process; events that follow belong to it.
  void process(const std::string& name) {
    ++process_;
    meta("process_name", 0, {{"name", name}});
    meta("process_sort_index", 0, {{"sort_index", process_}});
    meta("thread_name", thread_of(Lane::kCompute), {{"name", "compute"}});
    meta("thread_name", thread_of(Lane::kCommunication), {{"name", "communication"}});
  }

  void span(Lane lane, const std::string& activity, std::size_t group, Nanoseconds begin,
            Nanoseconds end) {
    const bool whole_pass = activity == "forward";
    json event{{"ph", "X"},
               {"pid", process_},
               {"tid", thread_of(lane)},
               {"name", whole_pass ? activity : fmt::format("{} {}", activity, group)},
               {"cat", activity},
               {"ts", begin / kNanosecondsPerMicrosecond},
               {"dur", (end - begin) / kNanosecondsPerMicrosecond}};
    if (!whole_pass) event["args"] = {{"group", group}};
    events_.push_back(std::move(event));
  }

  json take() { return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events_)}}; }

 private:
  void meta(const char* what, int thread, json arguments) {
    events_.push_back({{"ph", "M"},
                       {"pid", process_},
                       {"tid", thread},
                       {"name", what},
                       {"args", std::move(arguments)}});
  }

  json events_ = json::array();
  int process_ = 0;
};

}  // namespace

json to_chrome_trace(const std::vector<TraceCase>& cases) {
  TraceWriter trace;
  for (const TraceCase& one : cases) {
    std::set<int> ranks;
    for (const MeasuredSpan& span : one.spans) ranks.insert(span.rank);
    for (const int rank : ranks) {
      trace.process(fmt::format("{}, rank {}", one.title, rank));
      for (const MeasuredSpan& span : one.spans) {
        if (span.rank != rank) continue;
        trace.span(span.lane, span.activity, span.group, span.begin, span.end);
      }
    }
    if (one.predicted.spans.empty()) continue;
    trace.process(fmt::format("{}, predicted", one.title));
    for (const Span& span : one.predicted.spans) {
      trace.span(span.lane, name_of(span.activity), span.index, span.begin, span.end);
    }
  }
  return trace.take();
}

}  // namespace mergewise
