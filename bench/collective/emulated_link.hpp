// SPDX-License-Identifier: Apache-2.0
// A slower network than the real one: each collective is really done, then held until its modelled
// time has passed.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/collective/control_plane.hpp"

#include <cstdint>
#include <memory>

namespace mergewise {

/// The link that is emulated. gbps = 1e9 bit/s.
struct LinkModel {
  double a_us = 0;
  double gbps = 0;
  /// a + 2 (P-1)/P 8 M / gbps for M > 0 and P > 1, else 0; so are the others.
  [[nodiscard]] Nanoseconds all_reduce(Bytes bytes, int ranks) const;
  /// a + (P-1)/P 8 M / gbps of all M bytes.
  [[nodiscard]] Nanoseconds reduce_scatter(Bytes bytes, int ranks) const;
  /// a + (P-1) 8 m / gbps of the m bytes that one rank contributes: where they give unequally
  /// many, the most that one gives, since every step of a ring waits for the largest block that is
  /// on its way in it (an upper bound: a step may do without that one). The sizes themselves count
  /// nothing.
  [[nodiscard]] Nanoseconds all_gather(Bytes bytes, int ranks) const;
};

/// What the emulation did so far.
struct LinkCounts {
  std::int64_t collectives = 0;
  std::int64_t overran = 0;  ///< really took longer than the model: these were not held
};

/// Wraps a communicator whose ranks all run on this host (throws UnsupportedError else: the last
/// arrival is found through shared memory). Ends of collectives: max(really done, last rank's
/// arrival + modelled time).
class EmulatedLink : public Communicator {
 public:
  [[nodiscard]] virtual LinkCounts counts() const = 0;
};
/// All ranks of the control plane call it; those that take no part in the communicator pass null
/// and get null.
[[nodiscard]] std::unique_ptr<EmulatedLink> make_emulated_link(Communicator* inner,
                                                               ControlPlane& control,
                                                               const LinkModel& link);

}  // namespace mergewise
