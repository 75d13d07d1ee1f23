// SPDX-License-Identifier: Apache-2.0
// Those that send some elements. Compiled once for each instruction set.
#include "kernels/compress/deep.hpp"
#include "kernels/compress/host_calls.hpp"
#include "kernels/compress/random_k.hpp"
#include "kernels/compress/top_k.hpp"

namespace mergewise::MERGEWISE_ISA {

template HostCalls host_calls<TopK>();
template HostCalls host_calls<DeepCompression>();
template HostCalls host_calls<RandomK<false>>();
template HostCalls host_calls<RandomK<true>>();

}  // namespace mergewise::MERGEWISE_ISA
