// SPDX-License-Identifier: Apache-2.0
// What every test of a timeline asks of its spans.
#pragma once

#include "bench/plan/timeline.hpp"

#include <ostream>
#include <vector>

namespace mergewise {

inline bool operator==(const Span& a, const Span& b) {
  return a.lane == b.lane && a.activity == b.activity && a.index == b.index && a.begin == b.begin &&
         a.end == b.end;
}
inline std::ostream& operator<<(std::ostream& out, const Span& span) {
  return out << name_of(span.activity) << ' ' << span.index << " [" << span.begin << ", "
             << span.end << ')';
}

namespace test {

inline std::vector<Span> lane(const Timeline& timeline, Lane lane) {
  std::vector<Span> spans;
  for (const Span& span : timeline.spans) {
    if (span.lane == lane) spans.push_back(span);
  }
  return spans;
}

inline Span compute(Activity activity, std::size_t index, Nanoseconds begin, Nanoseconds end) {
  return {Lane::kCompute, activity, index, begin, end};
}
inline Span transfer(std::size_t index, Nanoseconds begin, Nanoseconds end) {
  return {Lane::kCommunication, Activity::kTransfer, index, begin, end};
}

}  // namespace test
}  // namespace mergewise
