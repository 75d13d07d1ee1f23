// SPDX-License-Identifier: Apache-2.0
#include "kernels/compress/host_compressor.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "kernels/compress/coded.hpp"
#include "kernels/compress/halves.hpp"
#include "kernels/compress/host_top_k.hpp"
#include "kernels/compress/levels.hpp"
#include "kernels/compress/random_k.hpp"
#include "kernels/compress/signs.hpp"
#include "kernels/primitives/host/host_primitives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace mergewise {
namespace {

// Of a type as kernels/compress/coded.hpp describes.
template <typename Algorithm>
class Compressor : public HostCompressor {
 public:
  explicit Compressor(CompressorSpec spec) : HostCompressor(std::move(spec)) {}

  [[nodiscard]] bool summed() const override { return Algorithm::kSummed; }
  [[nodiscard]] std::uint64_t message_bytes(const GroupLayout& group) const override {
    return Algorithm::bytes(group.view(), selected(group));
  }
  [[nodiscard]] std::uint64_t scratch_bytes(const GroupLayout& group) const override {
    return Algorithm::scratch_bytes(group.view());
  }

 private:
  void make_message(const GroupLayout& group, const CompressStep& step,
                    std::span<const float> gradient, std::span<float> memory,
                    std::span<std::byte> message, std::span<std::byte> scratch) override {
    Algorithm::compress(
        HostPrimitives(),
        CompressArguments{group.view(), gradient.data(), has_memory() ? memory.data() : nullptr,
                          message.data(), scratch.data(),
                          draws(step, static_cast<std::uint16_t>(step.rank + 1)), step.ranks,
                          selected(group)});
  }

  void make_mean(const GroupLayout& group, const CompressStep& step,
                 std::span<const std::byte> received, std::span<float> mean) const override {
    const std::uint64_t k = selected(group);
    const float factor =
        has_memory() || k == 0
            ? 1.0F
            : static_cast<float>(static_cast<double>(group.elements()) / static_cast<double>(k));
    Algorithm::decompress(HostPrimitives(),
                          DecompressArguments{group.view(), received.data(), message_bytes(group),
                                              mean.data(), draws(step, 0), step.ranks, k, factor});
  }

  [[nodiscard]] DrawKey draws(const CompressStep& step, std::uint16_t stream) const {
    return {spec().seed, step.iteration, 0, stream};
  }
};

struct Entry {
  const char* id;
  std::vector<std::string> memories;  // the first is the default
  std::unique_ptr<HostCompressor> (*make)(CompressorSpec);
};

template <typename Type>
std::unique_ptr<HostCompressor> make_as(CompressorSpec spec) {
  return std::make_unique<Type>(std::move(spec));
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> kEntries{
      {"fp16", {"none", "residual"}, make_as<Compressor<Halves<Fp16>>>},
      {"bf16", {"none", "residual"}, make_as<Compressor<Halves<Bf16>>>},
      {"topk", {"residual", "none"}, make_as<HostTopK>},
      {"randk", {"none", "residual"}, make_as<Compressor<RandomK>>},
      {"qsgd", {"none", "residual"}, make_as<Compressor<MeanOfCodes<QuantisedLevels>>>},
      {"signsgd", {"none"}, make_as<Compressor<SignVote>>},
      {"ef_signsgd", {"residual"}, make_as<Compressor<MeanOfCodes<ScaledSigns>>>},
      {"onebit", {"residual"}, make_as<Compressor<MeanOfCodes<OneBit>>>},
      {"signum", {"momentum"}, make_as<Compressor<MomentumVote>>},
      {"terngrad", {"none", "residual"}, make_as<Compressor<MeanOfCodes<TernaryLevels>>>},
  };
  return kEntries;
}

}  // namespace

void HostCompressor::compress(const GroupLayout& group, const CompressStep& step,
                              std::span<const float> gradient, std::span<float> memory,
                              std::span<std::byte> message, std::span<std::byte> scratch) {
  MERGEWISE_CHECK(gradient.size() == group.elements(), "a gradient of another size");
  MERGEWISE_CHECK(memory.size() == (has_memory() ? group.elements() : 0),
                  "a memory of another size");
  MERGEWISE_CHECK(message.size() >= message_bytes(group), "too small a message");
  MERGEWISE_CHECK(scratch.size() >= scratch_bytes(group), "too little scratch");
  make_message(group, step, gradient, memory, message, scratch);
}

void HostCompressor::decompress(const GroupLayout& group, const CompressStep& step,
                                std::span<const std::byte> received, std::span<float> mean) const {
  MERGEWISE_CHECK(received.size() >= message_bytes(group) * (summed() ? 1 : step.ranks),
                  "a message is missing");
  MERGEWISE_CHECK(mean.size() == group.elements(), "a mean of another size");
  make_mean(group, step, received, mean);
}

std::uint64_t HostCompressor::selected(const GroupLayout& group) const {
  const std::uint64_t n = group.elements();
  const double wanted = std::floor(spec_.density * static_cast<double>(n));
  return std::min(n, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted)));
}

const std::vector<std::string>& HostCompressor::ids() {
  static const std::vector<std::string> kIds = [] {
    std::vector<std::string> ids;
    for (const Entry& entry : entries()) ids.emplace_back(entry.id);
    return ids;
  }();
  return kIds;
}

std::unique_ptr<HostCompressor> make_host_compressor(CompressorSpec spec) {
  const auto entry = std::find_if(entries().begin(), entries().end(),
                                  [&](const Entry& one) { return spec.id == one.id; });
  if (entry == entries().end()) {
    throw InputError(unknown_name("compressor", spec.id, HostCompressor::ids()));
  }
  if (spec.memory.empty()) spec.memory = entry->memories.front();
  if (std::find(entry->memories.begin(), entry->memories.end(), spec.memory) ==
      entry->memories.end()) {
    throw InputError(fmt::format("compressor '{}' takes no memory '{}', expected {}", spec.id,
                                 spec.memory, fmt::join(entry->memories, " or ")));
  }
  if (!(spec.density > 0 && spec.density <= 1)) {
    throw InputError(fmt::format("compressor '{}': density is {}, expected 0 < density <= 1",
                                 spec.id, spec.density));
  }
  return entry->make(std::move(spec));
}

}  // namespace mergewise
