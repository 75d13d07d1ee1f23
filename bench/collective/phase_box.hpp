// SPDX-License-Identifier: Apache-2.0
// A short text that one thread writes without waiting and another reads whole. Private to this
// folder.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mergewise::detail {

/// A sequence lock of one writer: the version is odd while a write is under way, and a reader tries
/// again when it saw an odd one or a change. Texts are cut to kCapacity bytes.
class PhaseBox {
 public:
  static constexpr std::size_t kWords = 16;
  static constexpr std::size_t kCapacity = kWords * 8 - 1;

  void write(std::string_view text) noexcept {
    std::array<char, kWords * 8> bytes{};
    std::memcpy(bytes.data(), text.data(), text.size() < kCapacity ? text.size() : kCapacity);
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < kWords; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i * 8, 8);
      words_[i].store(word, std::memory_order_release);  // Not before the odd version.
    }
    version_.store(version + 2, std::memory_order_release);
  }

  [[nodiscard]] std::string read() const {
    for (;;) {
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      std::array<char, kWords * 8> bytes{};
      for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint64_t word = words_[i].load(std::memory_order_acquire);
        std::memcpy(bytes.data() + i * 8, &word, 8);
      }
      if (before % 2 == 0 && version_.load(std::memory_order_relaxed) == before) {
        return bytes.data();
      }
    }
  }

 private:
  std::atomic<std::uint64_t> version_{0};
  std::array<std::atomic<std::uint64_t>, kWords> words_{};
};

}  // namespace mergewise::detail
