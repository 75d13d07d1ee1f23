// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/span_recorder.hpp"

namespace mergewise {

Event* SpanRecorder::mark(Stream& stream) {
  events_.push_back(device_.create_event());
  stream.record(*events_.back());
  return events_.back().get();
}

void SpanRecorder::open(Lane lane, Stream& stream) {
  last_[static_cast<std::size_t>(lane)] = mark(stream);
}

void SpanRecorder::close(Lane lane, Stream& stream, Activity activity, std::size_t index) {
  Event*& last = last_[static_cast<std::size_t>(lane)];
  const Event* begin = last;
  last = mark(stream);
  marked_.push_back({lane, activity, index, begin, last});
}

std::vector<StampedSpan> SpanRecorder::spans() const {
  std::vector<StampedSpan> spans;
  spans.reserve(marked_.size());
  for (const Lane lane : {Lane::kCompute, Lane::kCommunication}) {
    for (const Marked& span : marked_) {
      if (span.lane != lane) continue;
      spans.push_back(
          {span.lane, span.activity, span.index, span.begin->stamp(), span.end->stamp()});
    }
  }
  return spans;
}

}  // namespace mergewise
