// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/gloo/gloo_communicator.hpp"

#include "bench/collective/gloo/gloo_ring.hpp"
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"

#include <fmt/format.h>

namespace mergewise {
namespace {

class GlooCommunicator : public Communicator {
 public:
  GlooCommunicator(ControlPlane& control, int ranks, Nanoseconds deadline_ns)
      : rank_(control.rank()), ring_(control, ranks, deadline_ns) {}

  [[nodiscard]] std::string id() const override { return "gloo"; }
  [[nodiscard]] std::string description() const override {
    return fmt::format(
        "Gloo ring all-reduce and all-gather, ring reduce-scatter of Gloo's messages, {}",
        ring_.transport());
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return ring_.size(); }

  void all_reduce(float* data, std::size_t count, Stream& stream) override {
    enqueue(&GlooRing::all_reduce, data, count, stream);
  }
  void reduce_scatter(float* data, std::size_t count, Stream& stream) override {
    enqueue(&GlooRing::reduce_scatter, data, count, stream);
  }
  void all_gather(float* data, std::size_t count, Stream& stream) override {
    enqueue(&GlooRing::all_gather, data, count, stream);
  }

 private:
  void enqueue(void (GlooRing::*collective)(float*, std::size_t), float* data, std::size_t count,
               Stream& stream) {
    if (count == 0) return;
    as_host(stream).enqueue([this, collective, data, count] { (ring_.*collective)(data, count); });
  }

  int rank_;
  GlooRing ring_;
};

}  // namespace

std::unique_ptr<Communicator> make_gloo_communicator(ControlPlane& control, int ranks,
                                                     const NetworkOptions& network) {
  if (ranks < 1 || ranks > control.size()) {
    throw InputError(fmt::format("a communicator of {} ranks was asked for, but there are {}",
                                 ranks, control.size()));
  }
  if (control.rank() >= ranks) return nullptr;
  return std::make_unique<GlooCommunicator>(control, ranks, network.deadline_ns);
}

}  // namespace mergewise
