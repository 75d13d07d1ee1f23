// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of this process, and collectives between them through its memory.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/collective/half_sum.hpp"
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace mergewise {

/// Where they meet. Sums are made in the order of ranks. Allocates nothing per call after the
/// first of a size.
class Meeting {
 public:
  explicit Meeting(int ranks)
      : barrier_(ranks), data_(static_cast<std::size_t>(ranks)), bytes_(data_.size()) {}

  /// A broken network: every so many collectives the end of what arrives from the last rank on
  /// rank 0 is garbled; 0: never. Set by rank 0.
  int garbles_every = 0;

 private:
  friend class ThreadRank;
  std::barrier<> barrier_;
  std::vector<const std::byte*> data_;  // by rank
  std::vector<std::uint64_t> bytes_;
};

class ThreadRank : public Communicator {
 public:
  ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  [[nodiscard]] std::string id() const override { return "threads"; }
  [[nodiscard]] std::string description() const override { return "threads"; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(meeting_.data_.size()); }

  void all_reduce(std::byte* data, std::size_t count, DType dtype, Stream& stream) override {
    if (count == 0) return;
    as_host(stream).enqueue([this, data, count, dtype] {
      const std::size_t bytes = count * static_cast<std::size_t>(size_of(dtype));
      if (sum_.size() < bytes) sum_.resize(bytes);
      meet(data, bytes);
      std::copy_n(meeting_.data_[0], bytes, sum_.data());
      for (std::size_t rank = 1; rank < meeting_.data_.size(); ++rank) {
        add(meeting_.data_[rank], count, dtype);
      }
      if (garbled()) sum_[bytes - 1] ^= kGarble;
      meeting_.barrier_.arrive_and_wait();
      std::copy_n(sum_.data(), bytes, data);
    });
  }
  void reduce_scatter(float*, std::size_t, Stream&) override { throw UnsupportedError("unused"); }
  void all_gather(float*, std::size_t, Stream&) override { throw UnsupportedError("unused"); }
  void all_gather(const std::byte* mine, std::size_t bytes, std::byte* received,
                  Stream& stream) override {
    if (bytes == 0) return;
    as_host(stream).enqueue(
        [this, mine, bytes, received] { gather(mine, bytes, bytes, received, nullptr); });
  }
  void all_gather_counted(const std::byte* mine, const std::uint64_t* bytes, std::size_t capacity,
                          std::byte* received, std::uint64_t* received_bytes,
                          Stream& stream) override {
    if (capacity == 0) return;
    as_host(stream).enqueue([this, mine, bytes, capacity, received, received_bytes] {
      gather(mine, *bytes, capacity, received, received_bytes);
    });
  }

 private:
  static constexpr std::byte kGarble{0x55};

  bool garbled() {
    return rank_ == 0 && meeting_.garbles_every > 0 && ++calls_ % meeting_.garbles_every == 0;
  }

  void meet(const std::byte* data, std::uint64_t bytes) {
    meeting_.data_[static_cast<std::size_t>(rank_)] = data;
    meeting_.bytes_[static_cast<std::size_t>(rank_)] = bytes;
    meeting_.barrier_.arrive_and_wait();
  }

  void gather(const std::byte* mine, std::uint64_t bytes, std::size_t stride, std::byte* received,
              std::uint64_t* received_bytes) {
    meet(mine, bytes);
    for (std::size_t rank = 0; rank < meeting_.data_.size(); ++rank) {
      const std::uint64_t theirs = meeting_.bytes_[rank];
      std::copy_n(meeting_.data_[rank], theirs, received + rank * stride);
      if (received_bytes != nullptr) received_bytes[rank] = theirs;
    }
    const std::uint64_t last = meeting_.bytes_.back();
    if (garbled() && last > 0) received[(meeting_.data_.size() - 1) * stride + last - 1] ^= kGarble;
    meeting_.barrier_.arrive_and_wait();
  }

  void add(const std::byte* other, std::size_t count, DType dtype) {
    if (dtype == DType::kFloat32) {
      auto* const sum = reinterpret_cast<float*>(sum_.data());
      for (std::size_t i = 0; i < count; ++i) sum[i] += reinterpret_cast<const float*>(other)[i];
    } else {
      auto* const sum = reinterpret_cast<std::uint16_t*>(sum_.data());
      add_halves(dtype, sum, sum, reinterpret_cast<const std::uint16_t*>(other), count);
    }
  }

  Meeting& meeting_;
  int rank_;
  int calls_ = 0;
  std::vector<std::byte> sum_;
};

}  // namespace mergewise
