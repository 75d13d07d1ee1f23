// SPDX-License-Identifier: Apache-2.0
#include "bench/core/units.hpp"

#include <fmt/format.h>
#include <time.h>

#include <array>
#include <cmath>

namespace mergewise {
namespace {

struct Unit {
  double size;
  const char* name;
};

// The units are listed from the smallest; the largest one that is not above the value is used,
// where the value counts as it would be printed in the smaller unit: never "1000.0 us".
template <std::size_t N>
std::string in_units(double value, const std::array<Unit, N>& units, const char* base) {
  const Unit* best = nullptr;
  for (const Unit& unit : units) {
    const double smaller = best == nullptr ? 1 : best->size;
    const double steps = best == nullptr ? 1 : 10;  // printed per smaller unit
    const bool reached =
        std::round(std::abs(value) / smaller * steps) >= unit.size / smaller * steps;
    if (reached) best = &unit;
  }
  if (best == nullptr) return fmt::format("{:.0f} {}", value, base);
  return fmt::format("{:.1f} {}", value / best->size, best->name);
}

}  // namespace

Stamp now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Stamp>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::string human_time(Nanoseconds duration) {
  return in_units(duration, std::array{Unit{1e3, "us"}, Unit{1e6, "ms"}, Unit{1e9, "s"}}, "ns");
}

std::string human_bytes(Bytes bytes) {
  return in_units(
      static_cast<double>(bytes),
      std::array{Unit{1024.0, "KiB"}, Unit{1048576.0, "MiB"}, Unit{1073741824.0, "GiB"}}, "B");
}

}  // namespace mergewise
