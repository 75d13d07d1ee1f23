// SPDX-License-Identifier: Apache-2.0
// Defines host_calls() of the instruction set that the source is compiled for.
#pragma once

#include "kernels/compress/host_algorithms.hpp"
#include "kernels/primitives/host/host_primitives.hpp"
#include "kernels/primitives/host/instruction_set.hpp"

namespace mergewise::MERGEWISE_ISA {

template <typename Algorithm>
HostCalls host_calls() {
  return {[](const HostTools& tools, const CompressArguments& arguments) {
            Algorithm::compress(HostPrimitives(tools), arguments);
          },
          [](const HostTools& tools, const DecompressArguments& arguments) {
            Algorithm::decompress(HostPrimitives(tools), arguments);
          }};
}

}  // namespace mergewise::MERGEWISE_ISA
