// SPDX-License-Identifier: Apache-2.0
// A stream that keeps its tasks until the test runs them, on the test's own thread.
#pragma once

#include "bench/device/host/host_device.hpp"

#include <vector>

namespace mergewise {

class RecordingStream final : public HostStream {
 public:
  RecordingStream() { tasks_.reserve(1000); }
  void enqueue(HostTask task) override { tasks_.push_back(task); }
  void record(Event&) override {}
  void wait(Event&) override {}
  /// Runs what was enqueued.
  void synchronize() override {
    for (HostTask& task : tasks_) task();
    tasks_.clear();
  }
  [[nodiscard]] std::size_t queued() const { return tasks_.size(); }

 private:
  std::vector<HostTask> tasks_;
};

}  // namespace mergewise
