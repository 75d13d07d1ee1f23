// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/emulated_link.hpp"

#include "bench/collective/stamp_table.hpp"
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"

#include <fmt/format.h>

#include <algorithm>
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

  void all_reduce(std::byte* data, std::size_t count, DType dtype, Stream& stream) override {
    const Bytes bytes = static_cast<Bytes>(count) * size_of(dtype);
    emulate(bytes, stream, link_.all_reduce(bytes, size()),
            [&] { inner_.all_reduce(data, count, dtype, stream); });
  }
  void reduce_scatter(float* data, std::size_t count, Stream& stream) override {
    const Bytes bytes = bytes_of(count);
    emulate(bytes, stream, link_.reduce_scatter(bytes, size()),
            [&] { inner_.reduce_scatter(data, count, stream); });
  }
  void all_gather(float* data, std::size_t count, Stream& stream) override {
    emulate(bytes_of(count), stream,
            link_.all_gather(bytes_of(shard_of(count, 0, size()).count), size()),
            [&] { inner_.all_gather(data, count, stream); });
  }
  void all_gather(const std::byte* mine, std::size_t bytes, std::byte* received,
                  Stream& stream) override {
    emulate(static_cast<Bytes>(bytes), stream, link_.all_gather(static_cast<Bytes>(bytes), size()),
            [&] { inner_.all_gather(mine, bytes, received, stream); });
  }
  void all_gather_counted(const std::byte* mine, const std::uint64_t* bytes, std::size_t capacity,
                          std::byte* received, std::uint64_t* received_bytes,
                          Stream& stream) override {
    if (capacity == 0) return;
    const std::int64_t sequence = arrive(stream);
    inner_.all_gather_counted(mine, bytes, capacity, received, received_bytes, stream);
    as_host(stream).enqueue([this, sequence, received_bytes] {
      const std::uint64_t largest = *std::max_element(received_bytes, received_bytes + size());
      hold(sequence, link_.all_gather(static_cast<Bytes>(largest), size()));
    });
  }

  [[nodiscard]] LinkCounts counts() const override {
    return {collectives_.load(std::memory_order_relaxed), overran_.load(std::memory_order_relaxed)};
  }

 private:
  static Bytes bytes_of(std::size_t count) { return static_cast<Bytes>(count * sizeof(float)); }

  std::int64_t arrive(Stream& stream) {
    const std::int64_t sequence = next_++;
    as_host(stream).enqueue([this, sequence] { arrivals_.arrive(sequence, now()); });
    return sequence;
  }

  template <typename Call>
  void emulate(Bytes bytes, Stream& stream, Nanoseconds modelled, const Call& call) {
    if (bytes == 0) return;
    const std::int64_t sequence = arrive(stream);
    call();
    as_host(stream).enqueue([this, sequence, modelled] { hold(sequence, modelled); });
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
