// SPDX-License-Identifier: Apache-2.0
#include "bench/device/host/host_device.hpp"

#include "device_contract.hpp"

namespace mergewise {

INSTANTIATE_TEST_SUITE_P(Host, DeviceContract, testing::Values(&make_host_device));

}  // namespace mergewise
