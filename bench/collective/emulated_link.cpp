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
    if (count == 0) return;
    HostStream& host = as_host(stream);
    const std::int64_t sequence = next_++;
    const Nanoseconds modelled =
        link_.all_reduce(static_cast<Bytes>(count * sizeof(float)), size());
    host.enqueue([this, sequence] { arrivals_.arrive(sequence, now()); });
    inner_.all_reduce(data, count, stream);
    host.enqueue([this, sequence, modelled] { hold(sequence, modelled); });
  }

  [[nodiscard]] LinkCounts counts() const override {
    return {collectives_.load(std::memory_order_relaxed), overran_.load(std::memory_order_relaxed)};
  }

 private:
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
  if (bytes <= 0 || ranks < 2) return 0;
  const double share = 2.0 * (ranks - 1) / ranks;
  // 8 bits a byte over gbps = 1e9 bit/s is nanoseconds.
  return a_us * 1e3 + share * 8.0 * static_cast<double>(bytes) / gbps;
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
