// SPDX-License-Identifier: Apache-2.0
// The compressors on the host.
#pragma once

#include "kernels/compress/compressor.hpp"
#include "kernels/primitives/host/team.hpp"

#include <memory>

namespace mergewise {

/// `run` says how its primitives run; its team outlives the compressor. Results do not depend on
/// it. Throws InputError for "none", which compresses nothing.
[[nodiscard]] std::unique_ptr<Compressor> make_host_compressor(const CompressorSpec& spec,
                                                               HostRun run = {});

}  // namespace mergewise
