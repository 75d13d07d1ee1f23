// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/emulated_link.hpp"

#include "bench/collective/stamp_table.hpp"
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>

namespace mergewise {
namespace {

// The latency, and the bytes that pass the link `passes` times.
Nanoseconds link_time(const LinkModel& link, Bytes bytes, double passes, int ranks) {
  if (bytes <= 0 || ranks < 2) return 0;
  // 8 bits a byte over gbps = 1e9 bit/s is nanoseconds.
  return link.a_us * 1e3 + passes * 8.0 * static_cast<double>(bytes) / link.gbps;
}

class HostEmulatedLink : public EmulatedLink {
 public:
  HostEmulatedLink(Communicator& inner, ControlPlane& control, const LinkModel& link)
      : inner_(inner), link_(link), arrivals_(control, inner.size()) {}

  [[nodiscard]] std::string id() const override { return inner_.id(); }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{}, held to an emulated link of {} us and {} Gbit/s", inner_.description(),
                       link_.a_us, link_.gbps);
  }
  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }

  void all_reduce(float* data, std::size_t count, Stream& stream) override {
    emulate(&Communicator::all_reduce, data, count, stream,
            link_.all_reduce(bytes_of(count), size()));
  }
  void reduce_scatter(float* data, std::size_t count, Stream& stream) override {
    emulate(&Communicator::reduce_scatter, data, count, stream,
            link_.reduce_scatter(bytes_of(count), size()));
  }
  void all_gather(float* data, std::size_t count, Stream& stream) override {
    emulate(&Communicator::all_gather, data, count, stream,
            link_.all_gather(bytes_of(shard_of(count, 0, size()).count), size()));
  }

  [[nodiscard]] LinkCounts counts() const override {
    return {collectives_.load(std::memory_order_relaxed), overran_.load(std::memory_order_relaxed)};
  }

 private:
  using Call = void (Communicator::*)(float* data, std::size_t count, Stream& stream);

  static Bytes bytes_of(std::size_t count) { return static_cast<Bytes>(count * sizeof(float)); }

  void emulate(Call call, float* data, std::size_t count, Stream& stream, Nanoseconds modelled) {
    if (count == 0) return;
    HostStream& host = as_host(stream);
    const std::int64_t sequence = next_++;
    host.enqueue([this, sequence] { arrivals_.arrive(sequence, now()); });
    (inner_.*call)(data, count, stream);
    host.enqueue([this, sequence, modelled] { hold(sequence, modelled); });
  }

  void hold(std::int64_t sequence, Nanoseconds modelled) {
    const Stamp end = arrivals_.last_arrival(sequence) + std::llround(modelled);
    collectives_.fetch_add(1, std::memory_order_relaxed);
    // Nothing is modelled for a single rank, so there is nothing to overrun.
    if (modelled > 0 && now() > end) overran_.fetch_add(1, std::memory_order_relaxed);
    if (modelled > 0) sleep_until(end);
  }

  Communicator& inner_;
  const LinkModel link_;
  detail::StampTable arrivals_;
  std::int64_t next_ = 0;
  std::atomic<std::int64_t> collectives_{0};
  std::atomic<std::int64_t> overran_{0};
};

}  // namespace

Nanoseconds LinkModel::all_reduce(Bytes bytes, int ranks) const {
  return link_time(*this, bytes, 2.0 * (ranks - 1) / ranks, ranks);
}

Nanoseconds LinkModel::reduce_scatter(Bytes bytes, int ranks) const {
  return link_time(*this, bytes, 1.0 * (ranks - 1) / ranks, ranks);
}

Nanoseconds LinkModel::all_gather(Bytes bytes, int ranks) const {
  return link_time(*this, bytes, ranks - 1.0, ranks);
}

std::unique_ptr<EmulatedLink> make_emulated_link(Communicator* inner, ControlPlane& control,
                                                 const LinkModel& link) {
  if (!control.single_host()) {
    throw UnsupportedError(
        "an emulated link finds the last rank's arrival through shared memory, but the ranks run "
        "on more than one host (or network namespace): drop 'link' from the config, the real "
        "network is there");
  }
  if (inner == nullptr) return nullptr;
  return std::make_unique<HostEmulatedLink>(*inner, control, link);
}

}  // namespace mergewise
