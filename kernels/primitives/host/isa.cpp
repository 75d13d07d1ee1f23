// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/host/isa.hpp"

#include <array>
#include <cstddef>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mergewise {
namespace {

constexpr std::array kAll{Isa::kBaseline, Isa::kAvx2, Isa::kAvx512};

#if defined(__x86_64__)
// Not every compiler's __builtin_cpu_supports knows the name. Means something only beside AVX,
// whose registers the system must save.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

std::size_t count_available() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_f16c()) return 1;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? 3 : 2;
}
#else
std::size_t count_available() { return 1; }
#endif

}  // namespace

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kBaseline:
      break;
  }
  return "baseline";
}

std::span<const Isa> available_isas() {
  static const std::size_t kCount = count_available();
  return std::span<const Isa>(kAll).first(kCount);
}

Isa best_isa() { return available_isas().back(); }

}  // namespace mergewise
