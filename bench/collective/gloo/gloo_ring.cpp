// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/gloo/gloo_ring.hpp"

#include "bench/collective/communicator.hpp"
#include "bench/collective/gloo/pipe_signal_guard.hpp"
#include "bench/collective/half_sum.hpp"
#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/context.h>
#include <gloo/math.h>
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <gloo/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

namespace mergewise {
namespace {

/// A Gloo context whose pairs we connect ourselves, so that a failure names the rank.
class MeshContext : public gloo::Context {
 public:
  MeshContext(int own_rank, int ranks, std::shared_ptr<gloo::transport::Device> device,
              std::chrono::milliseconds timeout)
      : gloo::Context(own_rank, ranks) {
    setTimeout(timeout);
    device_ = std::move(device);
    transportContext_ = device_->createContext(own_rank, ranks);
    transportContext_->setTimeout(timeout);
  }

  /// The address that `peer` must connect to, as Gloo's bytes.
  std::vector<char> open_pair(int peer) {
    return transportContext_->createPair(peer)->address().bytes();
  }
  void connect_pair(int peer, const std::vector<char>& address) {
    transportContext_->getPair(peer)->connect(address);
  }
};

std::string key_of(const std::string& scope, int from, int to) {
  return fmt::format("{}/{}-{}", scope, from, to);
}

std::shared_ptr<gloo::transport::Device> make_device(const std::string& address) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = address;
  return gloo::transport::tcp::CreateDevice(attributes);
}

std::chrono::milliseconds milliseconds(Nanoseconds duration) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(duration / 1e6) + 1);
}

// Gloo's own collectives use 1 to 8.
constexpr std::uint8_t kReduceScatterSlotPrefix = 0x20;
constexpr std::uint8_t kSizesSlotPrefix = 0x21;
constexpr std::uint8_t kAllGatherSlotPrefix = 0x22;

template <DType kType>
void add_halves_of(void* sum, const void* a, const void* b, std::size_t count) {
  add_halves(kType, static_cast<std::uint16_t*>(sum), static_cast<const std::uint16_t*>(a),
             static_cast<const std::uint16_t*>(b), count);
}

gloo::AllreduceOptions::Func sum_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return &add_halves_of<DType::kFloat16>;
    case DType::kBfloat16:
      return &add_halves_of<DType::kBfloat16>;
    case DType::kFloat32:
      break;
  }
  return static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>);
}

// What a reduce-scatter's rank sends and receives, segment by segment.
class RingPlan {
 public:
  static constexpr std::size_t kMostFloats = std::size_t{1} << 18;  // of a segment

  RingPlan(int rank, int ranks, std::size_t count)
      : rank_(rank),
        ranks_(ranks),
        count_(count),
        segment_(std::min(kMostFloats, shard_of(count, 0, ranks).count)),
        segments_((shard_of(count, 0, ranks).count + segment_ - 1) / segment_) {}

  [[nodiscard]] std::size_t segment() const { return segment_; }    // floats of a full one
  [[nodiscard]] std::size_t segments() const { return segments_; }  // of a full shard
  [[nodiscard]] std::size_t items() const {
    return static_cast<std::size_t>(ranks_ - 1) * segments_;
  }
  [[nodiscard]] Shard sent(std::size_t item) const { return part(item, 1); }
  [[nodiscard]] Shard received(std::size_t item) const { return part(item, 2); }

 private:
  // Of the shard `behind` ranks (and as many as steps were made) before this one.
  [[nodiscard]] Shard part(std::size_t item, int behind) const {
    const int step = static_cast<int>(item / segments_);
    const Shard shard = shard_of(count_, (rank_ - step - behind + 2 * ranks_) % ranks_, ranks_);
    const std::size_t begin = std::min(shard.count, item % segments_ * segment_);
    return {shard.begin + begin, std::min(segment_, shard.count - begin)};
  }

  int rank_;
  int ranks_;
  std::size_t count_;
  std::size_t segment_;
  std::size_t segments_;
};

}  // namespace

GlooRing::GlooRing(ControlPlane& control, int ranks, Nanoseconds deadline_ns)
    : rank_(control.rank()),
      ranks_(ranks),
      deadline_ns_(deadline_ns),
      blocks_(static_cast<std::size_t>(ranks)) {
  MERGEWISE_CHECK(rank_ < ranks_ && ranks_ <= control.size(), "a ring of the first ranks");
  const std::string scope = control.numbered(fmt::format("gloo/{}", ranks_));
  if (ranks_ < 2) return;
  const std::string address = control.local_address();
  transport_ = fmt::format("tcp on {}", address);
  const detail::PipeSignalGuard guard;  // Also for the thread of Gloo's device.
  int peer = rank_;
  try {
    auto context = std::make_shared<MeshContext>(rank_, ranks_, make_device(address),
                                                 milliseconds(deadline_ns_));
    for (peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      const std::vector<char> bytes = context->open_pair(peer);
      control.set(key_of(scope, rank_, peer), std::string_view(bytes.data(), bytes.size()));
    }
    for (peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      const std::string bytes = control.get(key_of(scope, peer, rank_));
      context->connect_pair(peer, std::vector<char>(bytes.begin(), bytes.end()));
    }
    context_ = std::move(context);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw BackendError(fmt::format(
        "rank {} at {} cannot connect to rank {} with Gloo: {}. Can their hosts reach one another "
        "there? Name the network with --interface or --address",
        rank_, address, peer, error.what()));
  }
}

GlooRing::~GlooRing() = default;

void GlooRing::run(const char* name, std::size_t count, const char* of_what,
                   const std::function<void()>& collective) const {
  if (count == 0 || context_ == nullptr) return;
  const detail::PipeSignalGuard guard;
  try {
    collective();
  } catch (const std::exception& error) {
    throw BackendError(fmt::format(
        "rank {}: the {} of {} {} between {} ranks failed: {}. A peer has probably died, "
        "stalled, or called something else (deadline {})",
        rank_, name, count, of_what, ranks_, error.what(), human_time(deadline_ns_)));
  }
}

void GlooRing::all_reduce(std::byte* data, std::size_t count, DType dtype) {
  run("all-reduce", count, dtype == DType::kFloat32 ? "floats" : name_of(dtype), [&] {
    gloo::AllreduceOptions options(context_);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    if (dtype == DType::kFloat32) {
      options.setOutput(reinterpret_cast<float*>(data), count);
    } else {
      options.setOutput(reinterpret_cast<std::uint16_t*>(data), count);
    }
    options.setReduceFunction(sum_of(dtype));
    gloo::allreduce(options);
  });
}

void GlooRing::all_gather(float* data, std::size_t count) {
  for (int rank = 0; rank < ranks_; ++rank) {
    const Shard shard = shard_of(count, rank, ranks_);
    blocks_[static_cast<std::size_t>(rank)] = {shard.begin * sizeof(float),
                                               shard.count * sizeof(float)};
  }
  run("all-gather", count, "floats", [&] { circulate(reinterpret_cast<std::byte*>(data)); });
}

void GlooRing::all_gather(const std::byte* mine, std::size_t bytes, std::byte* received) {
  if (bytes == 0) return;
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) blocks_[rank] = {rank * bytes, bytes};
  std::memcpy(received + blocks_[static_cast<std::size_t>(rank_)].begin, mine, bytes);
  run("all-gather", bytes, "bytes of each rank", [&] { circulate(received); });
}

void GlooRing::all_gather_counted(const std::byte* mine, std::uint64_t bytes, std::size_t capacity,
                                  std::byte* received, std::uint64_t* received_bytes) {
  if (capacity == 0) return;
  const auto own = static_cast<std::size_t>(rank_);
  received_bytes[own] = bytes;
  run("exchange of sizes", blocks_.size(), "numbers", [&] { exchange_sizes(received_bytes); });
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
    if (received_bytes[rank] > capacity) {
      throw BackendError(fmt::format(
          "rank {} gives {} bytes to an all-gather that has room for {} of each rank: its message "
          "is larger than was said before",
          rank, received_bytes[rank], capacity));
    }
    blocks_[rank] = {rank * capacity, static_cast<std::size_t>(received_bytes[rank])};
  }
  if (bytes > 0) std::memcpy(received + blocks_[own].begin, mine, blocks_[own].bytes);
  run("all-gather", capacity, "bytes at most of each rank", [&] { circulate(received); });
}

// Each rank sends its own to each other rank: a latency, not P - 1 of them.
void GlooRing::exchange_sizes(std::uint64_t* bytes) const {
  const std::uint64_t slot = gloo::Slot::build(kSizesSlotPrefix, 0);
  const auto buffer = context_->createUnboundBuffer(bytes, blocks_.size() * sizeof *bytes);
  const auto place_of = [](int rank) { return static_cast<std::size_t>(rank) * sizeof *bytes; };
  for (int step = 1; step < ranks_; ++step) {
    const int from = (rank_ - step + ranks_) % ranks_;
    buffer->recv(from, slot, place_of(from), sizeof *bytes);
    buffer->send((rank_ + step) % ranks_, slot, place_of(rank_), sizeof *bytes);
  }
  for (int step = 1; step < ranks_; ++step) buffer->waitRecv();
  for (int step = 1; step < ranks_; ++step) buffer->waitSend();
}

// The ring: in step k a rank sends the block of rank - k to the right and receives that of
// rank - k - 1 from the left, empty ones too, so that all have entered once it is over.
void GlooRing::circulate(std::byte* data) const {
  const int left = (rank_ + ranks_ - 1) % ranks_;
  const int right = (rank_ + 1) % ranks_;
  const std::uint64_t slot = gloo::Slot::build(kAllGatherSlotPrefix, 0);
  const Block& last = blocks_.back();
  const auto buffer = context_->createUnboundBuffer(data, last.begin + last.bytes);
  const auto block = [this](int behind) {
    return blocks_[static_cast<std::size_t>((rank_ - behind + ranks_) % ranks_)];
  };
  for (int step = 1; step < ranks_; ++step) {
    buffer->recv(left, slot, block(step).begin, block(step).bytes);
  }
  for (int step = 0; step + 1 < ranks_; ++step) {
    if (step > 0) buffer->waitRecv();
    buffer->send(right, slot, block(step).begin, block(step).bytes);
  }
  buffer->waitRecv();
  for (int step = 1; step < ranks_; ++step) buffer->waitSend();
}

void GlooRing::reduce_scatter(float* data, std::size_t count) {
  run("reduce-scatter", count, "floats", [&] { run_reduce_scatter(data, count); });
}

// P - 1 steps: in step k a rank sends shard rank - k - 1 to the right, and receives shard
// rank - k - 2 from the left, to which it adds its own values. The last one received is its own,
// which has then passed all others. Shards travel in segments, numbered through all steps: one can
// be sent as soon as that of the step before was added, so that transfers and sums overlap.
void GlooRing::run_reduce_scatter(float* data, std::size_t count) {
  const RingPlan plan(rank_, ranks_, count);
  if (arriving_.size() < 2 * plan.segment()) arriving_.resize(2 * plan.segment());
  const int left = (rank_ + ranks_ - 1) % ranks_;
  const int right = (rank_ + 1) % ranks_;
  const std::uint64_t slot = gloo::Slot::build(kReduceScatterSlotPrefix, 0);
  const auto outgoing = context_->createUnboundBuffer(data, count * sizeof(float));
  std::unique_ptr<gloo::transport::UnboundBuffer> incoming[2];
  for (std::size_t i : {0, 1}) {
    incoming[i] = context_->createUnboundBuffer(arriving_.data() + i * plan.segment(),
                                                plan.segment() * sizeof(float));
  }
  const auto send = [&](std::size_t item) {
    const Shard part = plan.sent(item);
    outgoing->send(right, slot, part.begin * sizeof(float), part.count * sizeof(float));
  };
  const auto receive = [&](std::size_t item) {
    incoming[item % 2]->recv(left, slot, 0, plan.received(item).count * sizeof(float));
  };
  for (std::size_t item = 0; item < std::min<std::size_t>(2, plan.items()); ++item) receive(item);
  for (std::size_t item = 0; item < plan.segments(); ++item) send(item);
  for (std::size_t item = 0; item < plan.items(); ++item) {
    incoming[item % 2]->waitRecv();
    const Shard part = plan.received(item);
    float* own = data + part.begin;
    gloo::sum<float>(own, own, arriving_.data() + (item % 2) * plan.segment(), part.count);
    if (item + 2 < plan.items()) receive(item + 2);
    if (item + plan.segments() < plan.items()) send(item + plan.segments());
  }
  for (std::size_t item = 0; item < plan.items(); ++item) outgoing->waitSend();
}

}  // namespace mergewise
