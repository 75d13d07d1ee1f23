// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/emulated_link.hpp"

#include "bench/collective/gloo/gloo_communicator.hpp"
#include "bench/device/host/host_device.hpp"
#include "tests/contract/communicator/communicator_contract.hpp"

#include <utility>

namespace mergewise {
namespace {

/// A link together with the communicator that it wraps.
class LinkOverGloo : public Communicator {
 public:
  LinkOverGloo(std::unique_ptr<Communicator> inner, ControlPlane& control)
      : inner_(std::move(inner)), link_(make_emulated_link(inner_.get(), control, {100, 100})) {}
  [[nodiscard]] std::string id() const override { return link_->id(); }
  [[nodiscard]] std::string description() const override { return link_->description(); }
  [[nodiscard]] int rank() const override { return link_->rank(); }
  [[nodiscard]] int size() const override { return link_->size(); }
  void all_reduce(std::byte* data, std::size_t count, DType dtype, Stream& stream) override {
    link_->all_reduce(data, count, dtype, stream);
  }
  void reduce_scatter(float* data, std::size_t count, Stream& stream) override {
    link_->reduce_scatter(data, count, stream);
  }
  void all_gather(float* data, std::size_t count, Stream& stream) override {
    link_->all_gather(data, count, stream);
  }
  void all_gather(const std::byte* mine, std::size_t bytes, std::byte* received,
                  Stream& stream) override {
    link_->all_gather(mine, bytes, received, stream);
  }
  void all_gather_counted(const std::byte* mine, const std::uint64_t* bytes, std::size_t capacity,
                          std::byte* received, std::uint64_t* received_bytes,
                          Stream& stream) override {
    link_->all_gather_counted(mine, bytes, capacity, received, received_bytes, stream);
  }

 private:
  std::unique_ptr<Communicator> inner_;
  std::unique_ptr<EmulatedLink> link_;
};

std::unique_ptr<Communicator> connect(ControlPlane& control, int ranks, Nanoseconds deadline_ns) {
  auto inner = make_gloo_communicator(control, ranks, {"", "127.0.0.1", deadline_ns});
  if (inner == nullptr) {
    EXPECT_EQ(make_emulated_link(nullptr, control, {100, 100}), nullptr);
    return nullptr;
  }
  return std::make_unique<LinkOverGloo>(std::move(inner), control);
}

CommunicatorBackEnd link_over_gloo() { return {"gloo", &make_host_device, &connect}; }

INSTANTIATE_TEST_SUITE_P(EmulatedLink, CommunicatorContract,
                         testing::Values(CommunicatorCase{link_over_gloo(), 1},
                                         CommunicatorCase{link_over_gloo(), 3},
                                         CommunicatorCase{link_over_gloo(), 4}));

INSTANTIATE_TEST_SUITE_P(EmulatedLink, PeersContract,
                         testing::Values(CommunicatorCase{link_over_gloo(), 3},
                                         CommunicatorCase{link_over_gloo(), 4}));

}  // namespace
}  // namespace mergewise
