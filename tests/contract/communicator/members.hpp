// SPDX-License-Identifier: Apache-2.0
// Ranks as threads, each with a communicator.
#pragma once

#include "tests/contract/communicator/communicator_contract.hpp"
#include "tests/unit/collective/rank_threads.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace mergewise {

/// A rank with all it needs.
struct Member {
  ControlPlane& control;
  Communicator& communicator;
  Device& device;
  Stream& stream;

  [[nodiscard]] std::unique_ptr<Buffer> floats(std::size_t count) const {
    return device.allocate(static_cast<Bytes>(count * sizeof(float)));
  }
};

inline void run_members(const CommunicatorCase& item, const std::function<void(Member&)>& body,
                        Nanoseconds deadline_ns = kAmple) {
  run_ranks(item.ranks, [&](ControlPlane& control) {
    const auto device = item.back_end.make_device();
    const auto communicator = item.back_end.connect(control, item.ranks, deadline_ns);
    const auto stream = device->create_stream(StreamRole::kCommunication);
    Member member{control, *communicator, *device, *stream};
    body(member);
  });
}

}  // namespace mergewise
