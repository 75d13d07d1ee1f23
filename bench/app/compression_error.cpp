// SPDX-License-Identifier: Apache-2.0
#include "bench/app/compression_error.hpp"

#include "bench/replay/gradients.hpp"
#include "bench/replay/local_collective.hpp"
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
  Bytewise received(received_size(compressor, message.size(), kErrorRanks));
  std::vector<std::uint64_t> sizes;
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
    if (compressor.varies()) sizes.push_back(facts.bytes);
    receive_message(compressor, message, static_cast<int>(rank), received);
  }
  Floats mean(exact.size());
  compressor.decompress(layout, step, received, sizes, mean);
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
