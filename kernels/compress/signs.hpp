// SPDX-License-Identifier: Apache-2.0
// Codes of one bit an element: bit i % 8 of byte i / 8 is set where element i counts as positive.
// What scales there are for each tensor follow the bits at once, wherever that is.
#pragma once

#include "kernels/compress/arguments.hpp"
#include "kernels/primitives/sign_bits.hpp"

#include <cmath>

namespace mergewise {

MERGEWISE_HD inline bool sign_bit(const std::byte* message, std::uint64_t i) {
  return (static_cast<unsigned>(message[i / 8]) >> (i % 8) & 1U) != 0;
}

/// Writes the bits: is_positive(i).
template <typename On, typename F>
void pack_bits(const On& on, std::uint64_t elements, const F& is_positive, std::byte* message) {
  on.for_each(sign_bytes(elements), [=] MERGEWISE_HD(std::uint64_t byte) {
    unsigned bits = 0;
    for (std::uint64_t i = 8 * byte; i < 8 * byte + 8 && i < elements; ++i) {
      bits |= static_cast<unsigned>(is_positive(i)) << (i % 8);
    }
    message[byte] = static_cast<std::byte>(bits);
  });
}

/// SignSGD's: nothing but signs, +1 or -1, and what most ranks say. That of zero, and of as many
/// that say one as the other, falls by a coin, the same on all ranks.
struct SignVote {
  static constexpr bool kSummed = false;
  static std::uint64_t bytes(const GroupView& group, std::uint64_t) {
    return sign_bytes(group.elements);
  }
  static std::uint64_t scratch_bytes(const GroupView&) { return 0; }

  template <typename On>
  static void compress(const On& on, const CompressArguments& arguments) {
    pack_signs(on, arguments, arguments.gradient);
  }

  template <typename On>
  static void decompress(const On& on, const DecompressArguments& arguments) {
    const DecompressArguments a = arguments;
    on.for_each_chunk(a.group, [=] MERGEWISE_HD(const Chunk& chunk) {
      for (std::uint64_t i = chunk.begin; i < chunk.begin + chunk.count; ++i) {
        std::uint32_t positive = 0;
        for (std::uint32_t rank = 0; rank < a.ranks; ++rank) {
          positive += static_cast<std::uint32_t>(sign_bit(a.messages + rank * a.stride, i));
        }
        const bool up = 2 * positive == a.ranks ? coin(a.group, a.draws, i, chunk.tensor)
                                                : 2 * positive > a.ranks;
        a.mean[i] = up ? 1.0F : -1.0F;
      }
    });
  }

  template <typename On>
  static void pack_signs(const On& on, const CompressArguments& arguments, const float* values) {
    const GroupView group = arguments.group;
    DrawKey coins = arguments.draws;
    coins.stream = 0;
    const auto is_positive = [=] MERGEWISE_HD(std::uint64_t i) {
      const float x = finite_or_zero(values[i]);
      return x == 0 ? coin(group, coins, i, tensor_of(group, i)) : x > 0;
    };
    pack_bits(on, group.elements, is_positive, arguments.message);
  }

  MERGEWISE_HD static bool coin(const GroupView& group, const DrawKey& key, std::uint64_t i,
                                std::uint32_t tensor) {
    return (draw(of_tensor(group, key, tensor), i - group.begins[tensor]) & 1U) != 0;
  }
};

/// Signum's: the same of the momentum m = 0.9 m + 0.1 g, which is the memory.
struct MomentumVote : SignVote {
  template <typename On>
  static void compress(const On& on, const CompressArguments& arguments) {
    const CompressArguments a = arguments;
    on.for_each(a.group.elements, [=] MERGEWISE_HD(std::uint64_t i) {
      a.memory[i] = 0.9F * a.memory[i] + 0.1F * finite_or_zero(a.gradient[i]);
    });
    pack_signs(on, arguments, a.memory);
  }
};

/// EF-SignSGD's: signs, and the mean magnitude of each tensor. Zero counts as positive.
struct ScaledSigns {
  static std::uint64_t bytes(const GroupView& group) {
    return sign_bytes(group.elements) + sizeof(float) * group.tensors;
  }
  static std::uint64_t scratch_bytes(const GroupView& group) {
    return sizeof(double) * group.tensors;
  }

  template <typename On, typename F>
  static void encode(const On& on, const CompressArguments& arguments, const F& value) {
    const GroupView group = arguments.group;
    std::byte* const message = arguments.message;
    auto* const sums = reinterpret_cast<double*>(arguments.scratch);
    on.sum_by_tensor(
        group, [=] MERGEWISE_HD(std::uint64_t i) { return std::fabs(value(i)); }, sums);
    pack_bits(
        on, group.elements, [=] MERGEWISE_HD(std::uint64_t i) { return value(i) >= 0; }, message);
    on.for_each(group.tensors, [=] MERGEWISE_HD(std::uint64_t t) {
      const auto count = static_cast<double>(group.begins[t + 1] - group.begins[t]);
      store(message + sign_bytes(group.elements), t, static_cast<float>(sums[t] / count));
    });
  }

  struct Decoder {
    GroupView group;
    const std::byte* message;
    MERGEWISE_HD float operator()(std::uint64_t i, std::uint32_t tensor) const {
      const auto scale = load<float>(message + sign_bytes(group.elements), tensor);
      return sign_bit(message, i) ? scale : -scale;
    }
  };
};

/// 1-bit SGD's in MergeComp's form: for each tensor the mean of its negative elements and that of
/// the others; 0 for that of none.
struct OneBit {
  static std::uint64_t bytes(const GroupView& group) {
    return sign_bytes(group.elements) + 2 * sizeof(float) * group.tensors;
  }
  static std::uint64_t scratch_bytes(const GroupView& group) {
    return 3 * sizeof(double) * group.tensors;
  }

  template <typename On, typename F>
  static void encode(const On& on, const CompressArguments& arguments, const F& value) {
    const GroupView group = arguments.group;
    std::byte* const message = arguments.message;
    auto* const below = reinterpret_cast<double*>(arguments.scratch);
    double* const others = below + group.tensors;
    double* const negatives = others + group.tensors;
    on.sum_by_tensor(
        group, [=] MERGEWISE_HD(std::uint64_t i) { return smaller(value(i), 0); }, below);
    on.sum_by_tensor(
        group, [=] MERGEWISE_HD(std::uint64_t i) { return larger(value(i), 0); }, others);
    on.sum_by_tensor(
        group, [=] MERGEWISE_HD(std::uint64_t i) { return value(i) < 0 ? 1.0F : 0.0F; }, negatives);
    pack_bits(
        on, group.elements, [=] MERGEWISE_HD(std::uint64_t i) { return value(i) >= 0; }, message);
    on.for_each(group.tensors, [=] MERGEWISE_HD(std::uint64_t t) {
      const auto count = static_cast<double>(group.begins[t + 1] - group.begins[t]);
      const double rest = count - negatives[t];
      const double mean_below = negatives[t] > 0 ? below[t] / negatives[t] : 0;
      const double mean_others = rest > 0 ? others[t] / rest : 0;
      std::byte* const means = message + sign_bytes(group.elements);
      store(means, 2 * t, static_cast<float>(mean_below));
      store(means, 2 * t + 1, static_cast<float>(mean_others));
    });
  }

  struct Decoder {
    GroupView group;
    const std::byte* message;
    MERGEWISE_HD float operator()(std::uint64_t i, std::uint32_t tensor) const {
      return load<float>(message + sign_bytes(group.elements),
                         2 * std::uint64_t{tensor} + (sign_bit(message, i) ? 1 : 0));
    }
  };
};

}  // namespace mergewise
