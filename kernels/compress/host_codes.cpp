// SPDX-License-Identifier: Apache-2.0
// Those that send something of every element. Compiled once for each instruction set.
#include "kernels/compress/halves.hpp"
#include "kernels/compress/host_calls.hpp"
#include "kernels/compress/levels.hpp"
#include "kernels/compress/signs.hpp"

namespace mergewise::MERGEWISE_ISA {

template HostCalls host_calls<Halves<Fp16>>();
template HostCalls host_calls<Halves<Bf16>>();
template HostCalls host_calls<Coded<QuantisedLevels>>();
template HostCalls host_calls<Coded<TernaryLevels>>();
template HostCalls host_calls<Coded<SignVote>>();
template HostCalls host_calls<Coded<MomentumVote>>();
template HostCalls host_calls<Coded<ScaledSigns>>();
template HostCalls host_calls<Coded<OneBit>>();

}  // namespace mergewise::MERGEWISE_ISA
