// SPDX-License-Identifier: Apache-2.0
// A compressor from an algorithm (coded.hpp says what that is) and a device's primitives.
#pragma once

#include "bench/core/error.hpp"
#include "kernels/compress/compressor.hpp"
#include "kernels/compress/deep.hpp"
#include "kernels/compress/halves.hpp"
#include "kernels/compress/levels.hpp"
#include "kernels/compress/random_k.hpp"
#include "kernels/compress/signs.hpp"
#include "kernels/compress/top_k.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

namespace mergewise {

/// `Backend` has compress(algorithm, arguments, layout, facts) and decompress(algorithm, arguments,
/// layout) const, which run the algorithm, an empty type, by the device's primitives. The layout's
/// arrays, to which arguments point, are in the host's memory; `facts` are what arguments.facts is
/// to be at first.
template <typename Algorithm, typename Backend>
class AlgorithmCompressor : public Compressor {
 public:
  AlgorithmCompressor(const CompressorSpec& spec, Backend backend)
      : Compressor(spec), backend_(std::move(backend)) {}

  [[nodiscard]] std::optional<DType> summed_as() const override { return Algorithm::summed_as(); }
  [[nodiscard]] bool varies() const override { return std::is_same_v<Algorithm, DeepCompression>; }
  [[nodiscard]] std::uint64_t message_bytes(const GroupLayout& group) const override {
    return Algorithm::bytes(view_of(group), largest_settings(group, 1));
  }
  [[nodiscard]] std::uint64_t scratch_bytes(const GroupLayout& group) const override {
    return Algorithm::scratch_bytes(view_of(group), largest_settings(group, 1));
  }

 private:
  void make_message(const GroupLayout& group, const CompressStep& step,
                    std::span<const float> gradient, std::span<float> memory,
                    std::span<std::byte> message, std::span<std::byte> scratch,
                    MessageFacts& facts) override {
    const GroupView view = view_of(group);
    const CompressSettings settings = settings_of(group, step);
    backend_.compress(
        Algorithm{},
        CompressArguments{view, gradient.data(), memory_floats() > 0 ? memory.data() : nullptr,
                          message.data(), scratch.data(), &facts,
                          draws(step, static_cast<std::uint16_t>(step.rank + 1)), settings},
        group, MessageFacts{Algorithm::bytes(view, settings), 0, 0});
  }

  void make_mean(const GroupLayout& group, const CompressStep& step,
                 std::span<const std::byte> received, std::span<const std::uint64_t> bytes,
                 std::span<float> mean) const override {
    const CompressSettings settings = settings_of(group, step);
    const std::uint64_t k = settings.selected;
    const bool scales = memory_floats() == 0 && spec().id == "randk" && k > 0;
    const double part = static_cast<double>(group.elements()) / static_cast<double>(scales ? k : 1);
    backend_.decompress(
        Algorithm{},
        DecompressArguments{view_of(group), received.data(), message_bytes(group),
                            varies() ? bytes.data() : nullptr, mean.data(), draws(step, 0),
                            scales ? static_cast<float>(part) : 1.0F, settings},
        group);
  }

  // Whose "tensors" are those that share a scale.
  [[nodiscard]] GroupView view_of(const GroupLayout& group) const {
    if (std::is_same_v<Algorithm, Coded<QuantisedLevels>> && spec().bucket > 0) {
      return group.pieces(static_cast<std::uint64_t>(spec().bucket));
    }
    const bool one = spec().group_scale || std::is_same_v<Algorithm, Coded<QuantisedLevels>>;
    return one ? as_one_piece(group.view()) : group.view();
  }

  [[nodiscard]] DrawKey draws(const CompressStep& step, std::uint16_t stream) const {
    return {spec().seed, step.iteration, 0, stream};
  }

  [[nodiscard]] CompressSettings largest_settings(const GroupLayout& group,
                                                  std::uint32_t ranks) const {
    return settings(group, ranks, largest_density());
  }
  [[nodiscard]] CompressSettings settings_of(const GroupLayout& group,
                                             const CompressStep& step) const {
    return settings(group, step.ranks, density_at(step.iteration));
  }
  [[nodiscard]] CompressSettings settings(const GroupLayout& group, std::uint32_t ranks,
                                          double density) const {
    return {ranks,
            selected(group, density),
            density,
            static_cast<float>(spec().momentum),
            spec().clip,
            group.vector_elements(),
            group.vector_begins(),
            spec().messages,
            spec().dense_vectors};
  }

  Backend backend_;
};

/// The compressor of this spec by the backend. Throws InputError for "none", which compresses
/// nothing.
template <typename Backend>
std::unique_ptr<Compressor> make_compressor(const CompressorSpec& spec, Backend backend) {
  const auto made = [&]<typename Algorithm>(Algorithm) -> std::unique_ptr<Compressor> {
    return std::make_unique<AlgorithmCompressor<Algorithm, Backend>>(spec, std::move(backend));
  };
  if (spec.id == "fp16") return made(Halves<Fp16>{});
  if (spec.id == "bf16") return made(Halves<Bf16>{});
  if (spec.id == "topk") return made(TopK{});
  if (spec.id == "dgc") return made(DeepCompression{});
  if (spec.id == "randk" && spec.sends_indices) return made(RandomK<true>{});
  if (spec.id == "randk") return made(RandomK<false>{});
  if (spec.id == "qsgd") return made(Coded<QuantisedLevels>{});
  if (spec.id == "signsgd") return made(Coded<SignVote>{});
  if (spec.id == "ef_signsgd") return made(Coded<ScaledSigns>{});
  if (spec.id == "onebit") return made(Coded<OneBit>{});
  if (spec.id == "signum") return made(Coded<MomentumVote>{});
  if (spec.id == "terngrad") return made(Coded<TernaryLevels>{});
  throw InputError("compressor '" + spec.id + "' compresses nothing: expected another one");
}

}  // namespace mergewise
