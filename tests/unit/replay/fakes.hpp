// SPDX-License-Identifier: Apache-2.0
// A compute and a communicator that write down, in one log, in which order the streams really ran
// them.
#pragma once

#include "bench/collective/communicator.hpp"
#include "bench/collective/control_plane.hpp"
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"
#include "bench/replay/gradients.hpp"
#include "kernels/compute/compute.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mergewise {

/// What ran, in the order in which it ran. Thread-safe.
class Log {
 public:
  void add(char kind, std::size_t index) {
    const std::scoped_lock lock(mutex_);
    std::string entry = std::to_string(index);
    entry.insert(entry.begin(), kind);
    entries_.push_back(std::move(entry));
  }
  [[nodiscard]] std::vector<std::string> entries() const {
    const std::scoped_lock lock(mutex_);
    return entries_;
  }
  /// Position of the n-th occurrence of an entry.
  [[nodiscard]] std::size_t position(const std::string& entry, int occurrence = 0) const {
    const auto all = entries();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] == entry && occurrence-- == 0) return i;
    }
    return all.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> entries_;
};

/// "f0" for the first step of a forward pass, "b3" for the backward work of tensor 3.
class LoggingCompute : public Compute {
 public:
  explicit LoggingCompute(Log* log, std::size_t forward_steps = 1)
      : log_(log), forward_steps_(forward_steps) {}
  [[nodiscard]] std::string id() const override { return "logging"; }
  void resume(Stream&) override {}
  [[nodiscard]] std::size_t forward_steps() const override { return forward_steps_; }
  void forward(Stream& stream, std::size_t begin, std::size_t end) override {
    for (std::size_t step = begin; step < end; ++step) enqueue(stream, 'f', step);
  }
  void backward(Stream& stream, std::size_t tensor) override { enqueue(stream, 'b', tensor); }

 private:
  void enqueue(Stream& stream, char kind, std::size_t index) {
    if (log_ == nullptr) return;
    as_host(stream).enqueue([log = log_, kind, index] { log->add(kind, index); });
  }
  Log* log_;
  std::size_t forward_steps_;
};

/// Pretends to be rank 0 of `ranks`: adds what the other ranks would have sent. "r5" for an
/// all-reduce of 5 elements, "s5" for a reduce-scatter, "g5" for an all-gather.
class PretendedRanks : public Communicator {
 public:
  PretendedRanks(int ranks, Log* log, std::vector<std::size_t> tensor_elements)
      : ranks_(ranks), log_(log), elements_(std::move(tensor_elements)) {}
  [[nodiscard]] std::string id() const override { return "pretended"; }
  [[nodiscard]] std::string description() const override { return "pretended ranks"; }
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return ranks_; }

  void all_reduce(std::byte* bytes, std::size_t count, DType, Stream& stream) override {
    if (count == 0) return;
    as_host(stream).enqueue([this, bytes, count] {
      note('r', count);
      reduce(reinterpret_cast<float*>(bytes), count);
    });
  }
  void reduce_scatter(float* data, std::size_t count, Stream& stream) override {
    if (count == 0) return;
    as_host(stream).enqueue([this, data, count] {
      note('s', count);
      const std::size_t own = shard_of(count, 0, ranks_).count;
      reduce(data, own);
      for (std::size_t i = own; i < count && gradients != nullptr; ++i) data[i] = -1;
    });
  }
  void all_gather(float* data, std::size_t count, Stream& stream) override {
    if (count == 0) return;
    as_host(stream).enqueue([this, data, count] {
      note('g', count);
      const std::size_t own = shard_of(count, 0, ranks_).count;
      gather(data + own, count - own);
    });
  }

  // What other ranks' compressors would say is not pretended.
  void all_gather(const std::byte*, std::size_t, std::byte*, Stream&) override {
    throw UnsupportedError("no messages");
  }
  void all_gather_counted(const std::byte*, const std::uint64_t*, std::size_t, std::byte*,
                          std::uint64_t*, Stream&) override {
    throw UnsupportedError("no messages");
  }

  float* gradients = nullptr;  ///< where the flat buffer begins, so that elements are known
  std::function<void()> before_reduce;  ///< what a reduction waits for first; may be empty
  bool loses_last = false;  ///< a broken collective: the last element of each call is not reduced

 private:
  void note(char kind, std::size_t count) const {
    if (log_ != nullptr) log_->add(kind, count);
  }
  void reduce(float* data, std::size_t count) const {
    if (before_reduce) before_reduce();
    for_elements(data, count, [this](float& value, std::size_t tensor, std::size_t element) {
      for (int rank = 1; rank < ranks_; ++rank) value += local_gradient(rank, tensor, element);
    });
  }
  // What the other ranks have reduced.
  void gather(float* data, std::size_t count) const {
    for_elements(data, count, [this](float& value, std::size_t tensor, std::size_t element) {
      value = reduced_gradient(ranks_, tensor, element);
    });
  }
  template <typename Body>
  void for_elements(float* data, std::size_t count, const Body& body) const {
    if (gradients == nullptr || count == 0) return;
    const auto first = static_cast<std::size_t>(data - gradients);
    const std::size_t end = first + count - (loses_last ? 1 : 0);
    std::size_t offset = 0;
    for (std::size_t tensor = 0; tensor < elements_.size(); ++tensor) {
      for (std::size_t i = 0; i < elements_[tensor]; ++i, ++offset) {
        if (offset >= first && offset < end) body(gradients[offset], tensor, i);
      }
    }
  }

  int ranks_;
  Log* log_;
  std::vector<std::size_t> elements_;
};

/// The control plane of a single rank.
inline std::unique_ptr<ControlPlane> alone() { return ControlPlane::connect({}, {}, {}, nullptr); }

}  // namespace mergewise
