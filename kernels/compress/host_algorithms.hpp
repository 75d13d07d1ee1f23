// SPDX-License-Identifier: Apache-2.0
// The compressors' algorithms with the host's primitives, one set for each instruction set.
// Included by sources that are compiled for several of them: declarations only.
#pragma once

#include "kernels/compress/arguments.hpp"
#include "kernels/primitives/host/host_tools.hpp"

namespace mergewise {

struct HostCalls {
  void (*compress)(const HostTools& tools, const CompressArguments& arguments);
  void (*decompress)(const HostTools& tools, const DecompressArguments& arguments);
};

// Of each algorithm that make_compressor() knows; host_codes.cpp and host_selections.cpp have them.
namespace baseline {
template <typename Algorithm>
[[nodiscard]] HostCalls host_calls();
}
namespace avx2 {
template <typename Algorithm>
[[nodiscard]] HostCalls host_calls();
}
namespace avx512 {
template <typename Algorithm>
[[nodiscard]] HostCalls host_calls();
}

}  // namespace mergewise
