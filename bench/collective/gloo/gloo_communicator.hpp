// SPDX-License-Identifier: Apache-2.0
// Collectives over Gloo's TCP transport, on host streams.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/collective/control_plane.hpp"
#include "bench/collective/rank.hpp"

#include <memory>

namespace mergewise {

/// A communicator over the first `ranks` ranks of the control plane (all of them must call this;
/// the others get nullptr). Addresses are exchanged through the control plane's store; nothing is
/// left on disk. `network` says what to bind to. Throws BackendError, naming the peer that could
/// not be reached.
[[nodiscard]] std::unique_ptr<Communicator> make_gloo_communicator(ControlPlane& control, int ranks,
                                                                   const NetworkOptions& network);

}  // namespace mergewise
