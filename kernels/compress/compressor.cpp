// SPDX-License-Identifier: Apache-2.0
#include "kernels/compress/compressor.hpp"

#include "bench/core/error.hpp"
#include "kernels/primitives/sparse_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

constexpr double kFirstDensity = 0.25;  // of a warm-up

}  // namespace

std::size_t Compressor::memory_floats() const {
  if (spec_.memory == "none") return 0;
  return spec_.memory == "velocity" ? 2 : 1;
}

void Compressor::compress(const GroupLayout& group, const CompressStep& step,
                          std::span<const float> gradient, std::span<float> memory,
                          std::span<std::byte> message, std::span<std::byte> scratch,
                          MessageFacts& facts) {
  MERGEWISE_CHECK(gradient.size() == group.elements(), "a gradient of another size");
  MERGEWISE_CHECK(memory.size() == memory_floats() * group.elements(), "a memory of another size");
  MERGEWISE_CHECK(message.size() >= message_bytes(group), "too small a message");
  MERGEWISE_CHECK(scratch.size() >= scratch_bytes(group), "too little scratch");
  for (const std::byte* const begin : {message.data(), scratch.data()}) {
    MERGEWISE_CHECK(reinterpret_cast<std::uintptr_t>(begin) % sizeof(std::uint64_t) == 0,
                    "message and scratch are aligned to 8 bytes");
  }
  if (parts() > 1 && index_bytes(group.elements()) != sizeof(float)) {
    throw InputError(fmt::format(
        "compressor '{}': a group of {} elements has indices larger than its values, expected at "
        "most 2^31 - 1 elements where they are sent apart; say messages: 1",
        spec_.id, group.elements()));
  }
  make_message(group, step, gradient, memory, message, scratch, facts);
}

void Compressor::decompress(const GroupLayout& group, const CompressStep& step,
                            std::span<const std::byte> received,
                            std::span<const std::uint64_t> bytes, std::span<float> mean) const {
  MERGEWISE_CHECK(received.size() >= message_bytes(group) * (summed_as() ? 1 : step.ranks),
                  "a message is missing");
  MERGEWISE_CHECK(bytes.size() == (varies() ? step.ranks : 0), "sizes of another number of ranks");
  MERGEWISE_CHECK(mean.size() == group.elements(), "a mean of another size");
  make_mean(group, step, received, bytes, mean);
}

std::uint64_t Compressor::selected(const GroupLayout& group, double density) const {
  const std::uint64_t n = group.elements() - (spec_.dense_vectors ? group.vector_elements() : 0);
  const double wanted = std::floor(density * static_cast<double>(n));
  return std::min(n, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted)));
}

double Compressor::largest_density() const {
  return spec_.warm_up > 0 ? std::max(kFirstDensity, spec_.density) : spec_.density;
}

double Compressor::density_at(std::uint32_t iteration) const {
  if (iteration >= spec_.warm_up) return spec_.density;
  const double done = static_cast<double>(iteration) / static_cast<double>(spec_.warm_up);
  return kFirstDensity * std::pow(spec_.density / kFirstDensity, done);
}

}  // namespace mergewise
