// SPDX-License-Identifier: Apache-2.0
// What the link that ranks use can do at most, where that is known.
#pragma once

#include "bench/collective/control_plane.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace mergewise {

/// The interface of this host that has this address; "" when none has.
[[nodiscard]] std::string interface_of(const std::string& address);

/// Its speed in Gbit/s (1e9) as the driver states it (`speed` below /sys/class/net/INTERFACE);
/// nothing where it does not, as for loopback. A virtual interface states what it likes.
[[nodiscard]] std::optional<double> link_gbps(const std::string& interface,
                                              const std::filesystem::path& sys = "/sys/class/net");

/// The slowest known link of the first `ranks` ranks; nothing where none is known. Collective over
/// the control plane.
[[nodiscard]] std::optional<double> slowest_link_gbps(ControlPlane& control, int ranks);

}  // namespace mergewise
