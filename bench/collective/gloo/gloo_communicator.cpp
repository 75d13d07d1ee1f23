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
    return fmt::format("Gloo ring all-reduce, {}", ring_.transport());
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return ring_.size(); }

  void all_reduce(float* data, std::size_t count, Stream& stream) override {
    if (count == 0) return;
    as_host(stream).enqueue([this, data, count] { ring_.all_reduce(data, count); });
  }

 private:
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
