// SPDX-License-Identifier: Apache-2.0
// MERGEWISE_ISA: the namespace of all that is compiled once for each instruction set.
#pragma once

// kernels/CMakeLists.txt defines it as one of the names of isa.hpp. Elsewhere such code has no
// business, but its headers compile.
#ifndef MERGEWISE_ISA
#define MERGEWISE_ISA unspecified
#endif
