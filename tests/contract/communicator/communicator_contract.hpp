// SPDX-License-Identifier: Apache-2.0
// What every communicator must do, as one suite: a back end's own file instantiates it with its
// makers and numbers of ranks.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/collective/control_plane.hpp"
#include "bench/device/device.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace mergewise {

struct CommunicatorBackEnd {
  std::string id;
  std::unique_ptr<Device> (*make_device)();
  /// Over the first `ranks` ranks of the control plane, with a deadline.
  std::unique_ptr<Communicator> (*connect)(ControlPlane& control, int ranks,
                                           Nanoseconds deadline_ns);
};

struct CommunicatorCase {
  CommunicatorBackEnd back_end;
  int ranks;
};

inline void PrintTo(const CommunicatorCase& item, std::ostream* stream) {
  *stream << item.back_end.id << " with " << item.ranks << " ranks";
}

class CommunicatorContract : public testing::TestWithParam<CommunicatorCase> {};
/// What concerns the others: for two ranks and more.
class PeersContract : public testing::TestWithParam<CommunicatorCase> {};

}  // namespace mergewise
