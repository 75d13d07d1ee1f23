// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "kernels/compute/compute.hpp"
#include "kernels/compute/deadline_cursor.hpp"

#include <cmath>
#include <utility>

namespace mergewise {
namespace {

class TimedCompute final : public Compute {
 public:
  TimedCompute(std::vector<Nanoseconds> forward_ns, std::vector<Nanoseconds> backward_ns)
      : forward_ns_(std::move(forward_ns)), backward_ns_(std::move(backward_ns)) {
    for (const auto* times : {&forward_ns_, &backward_ns_}) {
      for (const Nanoseconds time : *times) {
        MERGEWISE_CHECK(std::isfinite(time) && time >= 0,
                        "a layer's time is negative or not finite");
      }
    }
  }

  [[nodiscard]] std::string id() const override { return "timed"; }

  void resume(Stream& stream) override {
    resumed_ = true;
    as_host(stream).enqueue([this] { cursor_.resume(now()); });
  }

  [[nodiscard]] std::size_t forward_steps() const override { return forward_ns_.size(); }
  void forward(Stream& stream, std::size_t begin, std::size_t end) override {
    MERGEWISE_CHECK(begin <= end && end <= forward_ns_.size(), "there is no such forward step");
    Nanoseconds sum = 0;
    for (std::size_t step = begin; step < end; ++step) sum += forward_ns_[step];
    hold(stream, sum);
  }
  void backward(Stream& stream, std::size_t tensor) override {
    hold(stream, backward_ns_.at(tensor));
  }

 private:
  void hold(Stream& stream, Nanoseconds duration) {
    MERGEWISE_CHECK(resumed_, "timed compute was used before resume()");
    if (duration == 0) return;
    as_host(stream).enqueue([this, duration] { sleep_until(cursor_.advance(duration)); });
  }

  std::vector<Nanoseconds> forward_ns_;
  std::vector<Nanoseconds> backward_ns_;
  bool resumed_ = false;   // of the enqueueing thread
  DeadlineCursor cursor_;  // of the stream's thread
};

}  // namespace

std::unique_ptr<Compute> make_timed_compute(std::vector<Nanoseconds> forward_ns,
                                            std::vector<Nanoseconds> backward_ns) {
  return std::make_unique<TimedCompute>(std::move(forward_ns), std::move(backward_ns));
}

}  // namespace mergewise
