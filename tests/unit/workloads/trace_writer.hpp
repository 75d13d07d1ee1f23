// SPDX-License-Identifier: Apache-2.0
// Writes small profiler traces for tests, with the events and keys that Kineto writes. Times are in
// microseconds from the start of the trace.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

class TraceWriter {
 public:
  /// Older versions count from 1970, newer ones from a later start.
  explicit TraceWriter(double origin_us = 4203669600000.0) : origin_(origin_us) {}

  /// An operation of the forward pass; `dims` is the JSON of its inputs' shapes.
  void forward(const std::string& name, double at, double takes, int sequence,
               const std::string& dims = "[[4, 8]]", int thread = 1) {
    event("cpu_op", name, at, takes, thread,
          fmt::format(R"("Sequence number": {}, "Fwd thread id": 0, "Input Dims": {})", sequence,
                      dims));
  }
  /// A function of the backward pass, and the engine's event around it.
  void node(const std::string& name, double at, double takes, int sequence, int thread = 1,
            const std::string& dims = "[[4, 8]]") {
    const std::string arguments =
        fmt::format(R"("Sequence number": {}, "Fwd thread id": 1)", sequence);
    event("cpu_op", "autograd::engine::evaluate_function: " + name, at, takes, thread, arguments);
    event("cpu_op", name, at, takes, thread, arguments + R"(, "Input Dims": )" + dims);
  }
  void gradient(double at, double takes, const std::string& shape, int thread = 1,
                const std::string& type = "float") {
    event("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", at,
          takes + 100, thread, "");
    event("cpu_op", "torch::autograd::AccumulateGrad", at, takes, thread,
          fmt::format(R"("Input Dims": [{}], "Input type": ["{}"])", shape, type));
  }
  void launch(double at, int correlation) {
    event("cuda_runtime", "cudaLaunchKernel", at, 1, 1,
          fmt::format(R"("correlation": {})", correlation));
  }
  void work(double at, double takes, int correlation, int stream = 7,
            const std::string& name = "gemm", const std::string& category = "kernel") {
    event(category, name, at, takes, stream,
          fmt::format(R"("correlation": {}, "stream": {}, "device": 0)", correlation, stream));
  }
  void event(const std::string& category, const std::string& name, double at, double takes,
             int thread, const std::string& arguments) {
    events_.push_back(fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 9, "tid": {}, "ts": {}, "dur": {}, )"
        R"("args": {{{}}}}})",
        category, name, thread, origin_ + at, takes, arguments));
  }
  void raw(const std::string& text) { events_.push_back(text); }

  /// One iteration of a linear layer and a norm, in 100 us from `at` on: the backward pass begins
  /// at 50, the gradients end at 60 (bias), 70 (weight), 82 and 84 (the norm's); `slower` is added
  /// to the linear layer's.
  void iteration(double at, int sequence, double slower = 0) {
    forward("aten::batch_norm", at + 10, 8, sequence);
    forward("aten::native_batch_norm", at + 11, 6, sequence);
    forward("aten::linear", at + 20, 10, sequence + 1, "[[4, 8], [2, 8], [2]]");
    forward("aten::t", at + 21, 1, sequence + 1, "[[2, 8]]");
    forward("aten::addmm", at + 23, 5, sequence + 2, "[[2], [4, 8], [8, 2]]");
    node("AddmmBackward0", at + 50, 5, sequence + 2);
    gradient(at + 56, 4 + slower, "[2]");
    node("TBackward0", at + 62 + slower, 1, sequence + 1, 1, "[[8, 2]]");
    gradient(at + 66, 4 + slower, "[2, 8]");
    node("NativeBatchNormBackward0", at + 75, 5, sequence);
    gradient(at + 81, 1, "[8]");
    gradient(at + 83, 1, "[8]");
  }

  [[nodiscard]] std::string list() const {
    return fmt::format("[\n{}\n]\n", fmt::join(events_, ",\n"));
  }
  [[nodiscard]] std::string text() const {
    return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": )" + list() +
           R"(, "traceName": "trace.json"})";
  }

 private:
  std::vector<std::string> events_;
  double origin_;
};

}  // namespace mergewise
