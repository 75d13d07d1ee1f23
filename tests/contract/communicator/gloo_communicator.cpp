// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/gloo/gloo_communicator.hpp"

#include "bench/device/host/host_device.hpp"
#include "tests/contract/communicator/communicator_contract.hpp"

namespace mergewise {
namespace {

CommunicatorBackEnd gloo() {
  return {"gloo", &make_host_device, [](ControlPlane& control, int ranks, Nanoseconds deadline_ns) {
            return make_gloo_communicator(control, ranks, {"", "127.0.0.1", deadline_ns});
          }};
}

INSTANTIATE_TEST_SUITE_P(Gloo, CommunicatorContract,
                         testing::Values(CommunicatorCase{gloo(), 1}, CommunicatorCase{gloo(), 2},
                                         CommunicatorCase{gloo(), 3}, CommunicatorCase{gloo(), 4},
                                         CommunicatorCase{gloo(), 5}));

INSTANTIATE_TEST_SUITE_P(Gloo, PeersContract,
                         testing::Values(CommunicatorCase{gloo(), 2}, CommunicatorCase{gloo(), 3},
                                         CommunicatorCase{gloo(), 4}, CommunicatorCase{gloo(), 5}));

}  // namespace
}  // namespace mergewise
