// SPDX-License-Identifier: Apache-2.0
// What every device must do, as one suite: a device's own file instantiates it with its maker.
#pragma once

#include "bench/device/device.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace mergewise {

using DeviceMaker = std::unique_ptr<Device> (*)();

class DeviceContract : public testing::TestWithParam<DeviceMaker> {
 protected:
  std::unique_ptr<Device> device_ = GetParam()();
};

}  // namespace mergewise
