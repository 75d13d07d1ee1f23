// SPDX-License-Identifier: Apache-2.0
#include "bench/app/compression_error.hpp"

#include "bench/collective/half_sum.hpp"
#include "bench/replay/gradients.hpp"
#include "bench/stats/random.hpp"
#include "kernels/compress/host_compressor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace mergewise {
namespace {

constexpr std::size_t kFewest = 64;  // elements of a tensor that has so many

using Floats = std::vector<float>;
using Bytewise = std::vector<std::byte>;

struct Synthetic {
  std::vector<std::size_t> elements;  // of each tensor
  std::vector<bool> vectors;          // has one dimension
  std::vector<float> scales;

  explicit Synthetic(const std::vector<ProfileTensor>& tensors) {
    const std::size_t most =
        std::max(kFewest, kErrorElements / std::max<std::size_t>(tensors.size(), 1));
    float scale = 1;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const bool same_layer =
          i > 0 && !tensors[i].layer.empty() && tensors[i].layer == tensors[i - 1].layer;
      if (i > 0 && !same_layer) scale = scale == 1 ? 1 / kErrorScales : 1;
      const auto whole = static_cast<std::size_t>(tensors[i].bytes) / sizeof(float);
      elements.push_back(std::min(whole, most));
      vectors.push_back(tensors[i].shape.size() == 1);
      scales.push_back(scale);
    }
  }

  // One rank's gradient of the tensors [begin, end).
  [[nodiscard]] Floats gradient(std::size_t begin, std::size_t end, std::uint64_t rank) const {
    Floats values;
    for (std::size_t tensor = begin; tensor < end; ++tensor) {
      Floats shared(elements[tensor]);
      Floats own(elements[tensor]);
      fill_normal(shared, 2 * tensor);
      fill_normal(own, (2 * tensor + 1) << 8U | rank);
      for (std::size_t i = 0; i < shared.size(); ++i) {
        values.push_back(scales[tensor] * (shared[i] + own[i]));
      }
    }
    return values;
  }
};

// What the collective makes of the ranks' messages.
class Received {
 public:
  Received(const Compressor& compressor, std::size_t message_bytes)
      : compressor_(compressor),
        bytes_(message_bytes * (compressor.summed_as() ? 1U : unsigned{kErrorRanks})) {}

  void take(const Bytewise& message, std::uint64_t said, std::size_t rank) {
    if (compressor_.summed_as()) {
      add(message, rank == 0);
      return;
    }
    if (compressor_.varies()) sizes_.push_back(said);
    const auto parts = static_cast<std::size_t>(compressor_.parts());
    const std::size_t part_bytes = message.size() / parts;
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t to = (part * std::size_t{kErrorRanks} + rank) * part_bytes;
      std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(part * part_bytes), part_bytes,
                  bytes_.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::span<const std::uint64_t> sizes() const { return sizes_; }

 private:
  void add(const Bytewise& message, bool first) {
    if (first) {
      bytes_ = message;
    } else if (*compressor_.summed_as() == DType::kFloat32) {
      auto* const sums = reinterpret_cast<float*>(bytes_.data());
      const auto* const values = reinterpret_cast<const float*>(message.data());
      for (std::size_t i = 0; i < message.size() / sizeof(float); ++i) sums[i] += values[i];
    } else {
      auto* const sums = reinterpret_cast<std::uint16_t*>(bytes_.data());
      add_halves(*compressor_.summed_as(), sums, sums,
                 reinterpret_cast<const std::uint16_t*>(message.data()), message.size() / 2);
    }
  }

  const Compressor& compressor_;
  Bytewise bytes_;
  std::vector<std::uint64_t> sizes_;
};

// Exact mean and the compressor's of a group.
std::pair<Floats, Floats> means(Compressor& compressor, const Synthetic& synthetic,
                                const Group& group) {
  const auto part_of = [&](const auto& values) {
    return std::decay_t<decltype(values)>(values.begin() + static_cast<std::ptrdiff_t>(group.begin),
                                          values.begin() + static_cast<std::ptrdiff_t>(group.end));
  };
  const GroupLayout layout(static_cast<std::uint32_t>(group.begin), part_of(synthetic.elements),
                           part_of(synthetic.vectors));
  Floats exact(layout.elements());
  Bytewise message(compressor.message_bytes(layout));
  std::vector<std::uint64_t> scratch(compressor.scratch_bytes(layout) / sizeof(std::uint64_t) + 1);
  Received received(compressor, message.size());
  // Behind a warm-up, whose density plans do not count.
  CompressStep step{static_cast<std::uint32_t>(compressor.spec().warm_up), 0, kErrorRanks};
  for (std::size_t rank = 0; rank < std::size_t{kErrorRanks}; ++rank) {
    const Floats gradient = synthetic.gradient(group.begin, group.end, rank);
    for (std::size_t i = 0; i < exact.size(); ++i) exact[i] += gradient[i] / kErrorRanks;
    Floats memory(compressor.memory_floats() * gradient.size());
    step.rank = static_cast<std::uint16_t>(rank);
    MessageFacts facts;
    compressor.compress(layout, step, gradient, memory, message,
                        std::as_writable_bytes(std::span(scratch)), facts);
    received.take(message, facts.bytes, rank);
  }
  Floats mean(exact.size());
  compressor.decompress(layout, step, received.bytes(), received.sizes(), mean);
  return {std::move(exact), std::move(mean)};
}

}  // namespace

std::optional<CompressionError> compression_error(const CompressorSpec& spec, const MergePlan& plan,
                                                  const std::vector<ProfileTensor>& tensors) {
  if (spec.id == "none" || spec.id == "signsgd" || spec.id == "signum") return std::nullopt;
  const Synthetic synthetic(tensors);
  const auto compressor = make_host_compressor(spec);
  double wrong = 0;
  double all = 0;
  double worst = 0;
  for (const Group& group : plan.groups) {
    const auto [exact, mean] = means(*compressor, synthetic, group);
    std::size_t element = 0;
    for (std::size_t tensor = group.begin; tensor < group.end; ++tensor) {
      double off = 0;
      double size = 0;
      for (std::size_t i = 0; i < synthetic.elements[tensor]; ++i, ++element) {
        off += std::pow(double{mean[element]} - double{exact[element]}, 2);
        size += std::pow(double{exact[element]}, 2);
      }
      wrong += off;
      all += size;
      if (size > 0) worst = std::max(worst, off / size);
    }
  }
  if (all == 0) return std::nullopt;
  return CompressionError{std::sqrt(wrong / all), std::sqrt(worst)};
}

}  // namespace mergewise
