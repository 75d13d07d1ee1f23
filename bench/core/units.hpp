// SPDX-License-Identifier: Apache-2.0
// The units every folder speaks: bytes, model time, clock stamps.
#pragma once

#include <cstdint>
#include <string>

namespace mergewise {

/// A number of bytes.
using Bytes = std::int64_t;

/// Model time or a duration, in nanoseconds. A double, since cost models are real functions.
using Nanoseconds = double;

/// An instant of the monotonic clock (CLOCK_MONOTONIC), in nanoseconds. Only clock stamps are
/// integers.
using Stamp = std::int64_t;

/// The monotonic clock now.
[[nodiscard]] Stamp now();

/// Readable forms for people: "182.0 us", "25.0 MiB". Files and JSON always carry plain numbers.
[[nodiscard]] std::string human_time(Nanoseconds duration);
[[nodiscard]] std::string human_bytes(Bytes bytes);

}  // namespace mergewise
