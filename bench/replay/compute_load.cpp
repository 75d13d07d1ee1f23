// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/compute_load.hpp"

#include "kernels/compute/gemm_compute.hpp"

#include <fmt/format.h>

#include <utility>

namespace mergewise {
namespace {

constexpr std::int64_t kEdge = 256;                    // of the matrices
constexpr std::int64_t kActivations = 1 << 21;         // of the memory pass: 8 MiB in, 8 MiB out
constexpr Bytes kSwept = Bytes{2} * 4 * kActivations;  // each way

std::vector<LayerWork> load_layers() {
  LayerWork product;
  product.layer = "product";
  product.kind = LayerKind::kLinear;
  product.forward = {{.m = kEdge, .n = kEdge, .k = kEdge}};
  product.input_elements = product.output_elements = product.parameters = kEdge * kEdge;
  LayerWork pass;
  pass.layer = "pass";
  pass.kind = LayerKind::kActivation;
  pass.input_elements = pass.output_elements = kActivations;
  pass.forward_bytes = pass.backward_bytes = kSwept;
  return {product, pass};
}

}  // namespace

ComputeLoad::ComputeLoad(Device& device)
    : compute_(make_gemm_compute(load_layers(), {{1}, {0}})),
      begin_(device.create_event()),
      ends_{device.create_event(), device.create_event()},
      stream_(device.create_stream(StreamRole::kCompute)) {}

ComputeLoad::~ComputeLoad() {
  running_ = false;
  if (feeder_.joinable()) feeder_.join();
}

void ComputeLoad::start() {
  if (feeder_.joinable()) return;
  running_ = true;
  stream_->record(*begin_);
  enqueue_pass(0);
  feeder_ = std::thread([this] { feed(); });
  begin_->synchronize();
}

void ComputeLoad::enqueue_pass(std::size_t turn) {
  compute_->resume(*stream_);
  compute_->forward(*stream_, 0, compute_->forward_steps());
  for (const std::size_t tensor : {0U, 1U}) compute_->backward(*stream_, tensor);
  stream_->record(*ends_[turn]);
}

// A thread of its own, so that the caller can wait for another stream meanwhile. Two passes are
// queued at most: stop() waits for no more than those.
void ComputeLoad::feed() {
  try {
    for (std::size_t turn = 1; running_; turn = 1 - turn) {
      ends_[turn]->synchronize();
      enqueue_pass(turn);
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void ComputeLoad::stop() {
  if (!feeder_.joinable()) return;
  running_ = false;
  feeder_.join();
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  stream_->synchronize();
  if (failure) std::rethrow_exception(failure);
}

std::string ComputeLoad::description() {
  const int threads = gemm_threads();
  return fmt::format("products of {0} x {0} x {0} and memory passes over {1}, {2} thread{3}", kEdge,
                     human_bytes(kSwept), threads, threads == 1 ? "" : "s");
}

}  // namespace mergewise
