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
        "Gloo ring all-reduce, ring reduce-scatter and all-gather of Gloo's messages, {}",
        ring_.transport());
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return ring_.size(); }

  void all_reduce(std::byte* data, std::size_t count, DType dtype, Stream& stream) override {
    if (count == 0) return;
    as_host(stream).enqueue([this, data, count, dtype] { ring_.all_reduce(data, count, dtype); });
  }
  void reduce_scatter(float* data, std::size_t count, Stream& stream) override {
    if (count == 0) return;
    as_host(stream).enqueue([this, data, count] { ring_.reduce_scatter(data, count); });
  }
  void all_gather(float* data, std::size_t count, Stream& stream) override {
    if (count == 0) return;
    as_host(stream).enqueue([this, data, count] { ring_.all_gather(data, count); });
  }
  void all_gather(const std::byte* mine, std::size_t bytes, std::byte* received,
                  Stream& stream) override {
    if (bytes == 0) return;
    as_host(stream).enqueue(
        [this, mine, bytes, received] { ring_.all_gather(mine, bytes, received); });
  }
  void all_gather_counted(const std::byte* mine, const std::uint64_t* bytes, std::size_t capacity,
                          std::byte* received, std::uint64_t* received_bytes,
                          Stream& stream) override {
    if (capacity == 0) return;
    as_host(stream).enqueue([this, mine, bytes, capacity, received, received_bytes] {
      ring_.all_gather_counted(mine, *bytes, capacity, received, received_bytes);
    });
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
