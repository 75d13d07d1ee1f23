// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "bench/replay/calibrate.hpp"
#include "bench/replay/calibrator.hpp"
#include "bench/replay/gradients.hpp"
#include "bench/replay/local_collective.hpp"
#include "kernels/compress/compressor.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace mergewise {
namespace {

constexpr Bytes kElement = static_cast<Bytes>(sizeof(float));
// Each rank's gradient is the same sequence from another place on: what they select differs.
constexpr std::size_t kShift = 1021;

std::size_t elements_of(Bytes bytes) { return static_cast<std::size_t>(bytes / kElement); }

/// A group of one size, and what arrives of it from all ranks.
struct Sized {
  explicit Sized(std::size_t elements) : layout(0, {elements}) {}
  GroupLayout layout;
  std::size_t off = 0;  // elements off any alignment
  MessageFacts facts;
  std::unique_ptr<Buffer> received{};
  std::vector<std::uint64_t> received_bytes{};
};

/// Enqueues compressions and decompressions of groups of any of the sizes, on one stream.
class CompressorLoad {
 public:
  CompressorLoad(Device& device, Stream& stream, Compressor& compressor, int rank, int ranks,
                 const std::vector<Bytes>& sizes)
      : device_(device), stream_(stream), compressor_(compressor), rank_(rank), ranks_(ranks) {
    std::size_t most = 0;
    std::size_t message = 0;
    std::size_t scratch = 0;
    for (const Bytes bytes : sizes) {
      Sized& sized = sizes_.emplace(bytes, Sized(elements_of(bytes))).first->second;
      sized.off = detail::elements_off(bytes);
      most = std::max<std::size_t>(most, sized.layout.elements());
      message = std::max<std::size_t>(message, compressor.message_bytes(sized.layout));
      scratch = std::max<std::size_t>(scratch, compressor.scratch_bytes(sized.layout));
    }
    gradients_ = floats(most + 1 + static_cast<std::size_t>(ranks) * kShift);
    fill_normal(of(*gradients_, 0, elements_of(gradients_->size())), 1);
    memory_ = floats(compressor.memory_floats() * (most + 1));
    mean_ = floats(most + 1);
    message_ = device.allocate(static_cast<Bytes>(message));
    scratch_ = device.allocate(static_cast<Bytes>(scratch));
  }

  void compress(Bytes bytes) {
    const std::uint32_t iteration = next_iteration();
    as_host(stream_).enqueue(
        [this, sized = &sizes_.at(bytes), iteration] { compress_of(rank_, *sized, iteration); });
  }

  void decompress(Bytes bytes) {
    Sized& sized = sizes_.at(bytes);
    if (sized.received == nullptr) {
      sized.received = device_.allocate(static_cast<Bytes>(
          received_size(compressor_, compressor_.message_bytes(sized.layout), ranks_)));
      as_host(stream_).enqueue([this, own = &sized] { receive(*own); });
    }
    as_host(stream_).enqueue([this, own = &sized] {
      compressor_.decompress(own->layout, step(rank_, kLater), bytes_of(*own->received),
                             own->received_bytes, of(*mean_, own->off, own->layout.elements()));
    });
  }

 private:
  // Behind any warm-up.
  static constexpr std::uint32_t kLater = 1'000'000'000;

  [[nodiscard]] std::unique_ptr<Buffer> floats(std::size_t count) const {
    return device_.allocate(static_cast<Bytes>(count) * kElement);
  }
  static std::span<float> of(Buffer& buffer, std::size_t begin, std::size_t count) {
    return {reinterpret_cast<float*>(buffer.data()) + begin, count};
  }
  static std::span<std::byte> bytes_of(Buffer& buffer) {
    return {buffer.data(), static_cast<std::size_t>(buffer.size())};
  }
  [[nodiscard]] CompressStep step(int rank, std::uint32_t iteration) const {
    return {iteration, static_cast<std::uint16_t>(rank), static_cast<std::uint32_t>(ranks_)};
  }
  std::uint32_t next_iteration() { return kLater + ++compressed_; }

  void compress_of(int rank, Sized& sized, std::uint32_t iteration) {
    const std::size_t elements = sized.layout.elements();
    const std::size_t floats_each = compressor_.memory_floats();
    const std::size_t begin = sized.off + static_cast<std::size_t>(rank) * kShift;
    compressor_.compress(sized.layout, step(rank, iteration), of(*gradients_, begin, elements),
                         of(*memory_, floats_each * sized.off, floats_each * elements),
                         bytes_of(*message_), bytes_of(*scratch_), sized.facts);
  }

  // As if all ranks had sent theirs; a sum takes as long to decompress as one message.
  void receive(Sized& sized) {
    const std::size_t message = compressor_.message_bytes(sized.layout);
    const std::span<std::byte> received = bytes_of(*sized.received);
    for (int rank = 0; rank < (compressor_.summed_as() ? 1 : ranks_); ++rank) {
      std::fill_n(of(*memory_, 0, elements_of(memory_->size())).data(),
                  elements_of(memory_->size()), 0.0F);
      compress_of(rank, sized, kLater);
      if (compressor_.varies()) sized.received_bytes.push_back(sized.facts.bytes);
      receive_message(compressor_, bytes_of(*message_).first(message), rank, received);
    }
  }

  Device& device_;
  Stream& stream_;
  Compressor& compressor_;
  int rank_;
  int ranks_;
  std::map<Bytes, Sized> sizes_;
  std::unique_ptr<Buffer> gradients_;
  std::unique_ptr<Buffer> memory_;
  std::unique_ptr<Buffer> mean_;
  std::unique_ptr<Buffer> message_;
  std::unique_ptr<Buffer> scratch_;
  std::uint32_t compressed_ = 0;
};

}  // namespace

CompressorCosts calibrate_compressor(ControlPlane& control, Device* device, Compressor* compressor,
                                     int ranks, CalibrationSettings settings) {
  settings.variants = {CostVariant::kBackToBack};
  settings.budget_ns /= 2;
  CompressorCosts costs;
  if (settings.sizes.empty()) return costs;
  if (device == nullptr) {
    costs.compress = detail::Calibrator(control, settings).run();
    costs.decompress = detail::Calibrator(control, settings).run();
    return costs;
  }
  MERGEWISE_CHECK(compressor != nullptr && ranks > 0, "there is something to calibrate");
  const auto stream = device->create_stream(StreamRole::kCompute);
  CompressorLoad load(*device, *stream, *compressor, control.rank(), ranks, settings.sizes);
  const detail::Operation compress = [&](Bytes bytes) { load.compress(bytes); };
  const detail::Operation decompress = [&](Bytes bytes) { load.decompress(bytes); };
  costs.compress = detail::Calibrator(control, settings, *device, *stream, compress).run();
  costs.decompress = detail::Calibrator(control, settings, *device, *stream, decompress).run();
  return costs;
}

}  // namespace mergewise
