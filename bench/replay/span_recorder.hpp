// SPDX-License-Identifier: Apache-2.0
// Stamps around what an iteration does on its two streams, for the span pass.
#pragma once

#include "bench/device/device.hpp"
#include "bench/plan/timeline.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace mergewise {

/// A span on this rank's clock. What a lane does from one span's end on begins there unless it
/// waited.
struct StampedSpan {
  Lane lane = Lane::kCompute;
  Activity activity = Activity::kForward;
  std::size_t index = 0;  ///< as Span::index
  Stamp begin = 0;
  Stamp end = 0;
};

struct IterationStamps {
  Stamp begin = 0;
  Stamp end = 0;
  std::vector<StampedSpan>
      spans;  ///< per lane in time order; equal on all ranks but for the stamps
};

/// Records the events of one iteration. Each lane is always the same stream.
class SpanRecorder {
 public:
  explicit SpanRecorder(Device& device) : device_(device) {}

  /// The lane did something else until here: what comes begins here.
  void open(Lane lane, Stream& stream);
  /// What the lane did since the last open() or close() was this.
  void close(Lane lane, Stream& stream, Activity activity, std::size_t index);
  /// Once the streams are idle.
  [[nodiscard]] std::vector<StampedSpan> spans() const;

 private:
  struct Marked {
    Lane lane;
    Activity activity;
    std::size_t index;
    const Event* begin;
    const Event* end;
  };

  [[nodiscard]] Event* mark(Stream& stream);

  Device& device_;
  std::vector<std::unique_ptr<Event>> events_;
  std::array<Event*, 2> last_{};  // by Lane
  std::vector<Marked> marked_;
};

}  // namespace mergewise
