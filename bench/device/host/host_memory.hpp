// SPDX-License-Identifier: Apache-2.0
// Host memory: buffers, and how much a process may still take.
#pragma once

#include "bench/core/units.hpp"
#include "bench/device/device.hpp"

#include <filesystem>
#include <memory>

namespace mergewise {

/// What this process could take now without swapping: the machine's MemAvailable, or what the
/// memory limits of its control groups (v1 or v2, and their parents) leave, whichever is less.
/// Page cache that can be dropped counts as free. Reads below `root` (for tests); what cannot be
/// read limits nothing.
[[nodiscard]] Bytes available_memory(const std::filesystem::path& root = "/");

/// Zeroed, and thereby really there: pages are touched now, not in the first iteration. Throws
/// BackendError when it is more than what is available.
[[nodiscard]] std::unique_ptr<Buffer> make_host_buffer(Bytes size,
                                                       Bytes available = available_memory());

}  // namespace mergewise
