// SPDX-License-Identifier: Apache-2.0
// Codes of a few levels, rounded up or down by chance so that their mean is the value.
#pragma once

#include "kernels/compress/arguments.hpp"

#include <cmath>

namespace mergewise {

/// f(i, tensor, draw) for each element; one call of philox() serves eight.
template <typename On, typename F>
void for_each_drawn(const On& on, const GroupView& group, const DrawKey& key, const F& f) {
  on.for_each_chunk(group, [=] MERGEWISE_HD(const Chunk& chunk) {
    const DrawKey own = of_tensor(group, key, chunk.tensor);
    for (std::uint32_t first = 0; first < chunk.count; first += kDrawsPerBlock) {
      const PhiloxWords block = draw_block(own, (chunk.offset + first) / kDrawsPerBlock);
      for (std::uint32_t j = 0; j < kDrawsPerBlock && first + j < chunk.count; ++j) {
        f(chunk.begin + first + j, chunk.tensor, draw_of(block, j));
      }
    }
  });
}

/// QSGD's (Alistarh et al., section 3.1, with the 2-norm): a signed byte for each element, and the
/// norm of each bucket of 512, in the group's order; first the bytes, then the norms.
struct QuantisedLevels {
  static constexpr std::uint64_t kBucket = 512;
  static constexpr float kLevels = 127;

  MERGEWISE_HD static std::uint64_t buckets(const GroupView& group) {
    return (group.elements + kBucket - 1) / kBucket;
  }
  static std::uint64_t bytes(const GroupView& group) {
    return group.elements + sizeof(float) * buckets(group);
  }
  static std::uint64_t scratch_bytes(const GroupView&) { return 0; }

  MERGEWISE_HD static float norm_at(const GroupView& group, const std::byte* message,
                                    std::uint64_t i) {
    return load<float>(message + group.elements, i / kBucket);
  }

  template <typename On, typename F>
  static void encode(const On& on, const CompressArguments& arguments, const F& value) {
    const GroupView group = arguments.group;
    std::byte* const message = arguments.message;
    on.for_each(buckets(group), [=] MERGEWISE_HD(std::uint64_t bucket) {
      double sum = 0;  // squares of floats fit a double
      const std::uint64_t begin = bucket * kBucket;
      for (std::uint64_t i = begin; i < begin + kBucket && i < group.elements; ++i) {
        const auto x = static_cast<double>(value(i));
        sum += x * x;
      }
      const double root = std::sqrt(sum);
      store(message + group.elements, bucket,
            static_cast<float>(root > kLargest ? kLargest : root));
    });
    for_each_drawn(on, group, arguments.draws,
                   [=] MERGEWISE_HD(std::uint64_t i, std::uint32_t, std::uint32_t drawn) {
                     const float norm = norm_at(group, message, i);
                     message[i] = static_cast<std::byte>(level(value(i), norm, drawn));
                   });
  }

  /// 0 where the norm is; the draw decides between the levels beside 127 |value| / norm.
  MERGEWISE_HD static std::int8_t level(float value, float norm, std::uint32_t drawn) {
    if (!(norm > 0)) return 0;
    const float exact = smaller(kLevels * (std::fabs(value) / norm), kLevels);
    const float below = std::floor(exact);
    const float up = unit_of(drawn) < exact - below ? 1.0F : 0.0F;
    return static_cast<std::int8_t>(std::copysign(below + up, value));
  }

  struct Decoder {
    GroupView group;
    const std::byte* message;
    MERGEWISE_HD float operator()(std::uint64_t i, std::uint32_t) const {
      const auto level = static_cast<std::int8_t>(message[i]);
      return norm_at(group, message, i) / kLevels * static_cast<float>(level);
    }
  };

 private:
  static constexpr double kLargest = 3.4028234663852886e38;
};

/// TernGrad's: two bits for each element (0, 1: +1, 2: -1), and for each tensor the largest
/// magnitude after clipping at 2.5 standard deviations. These are deviations from zero, which
/// gradients scatter around: from their mean, a tensor of nearly equal elements would be clipped
/// away.
struct TernaryLevels {
  static constexpr float kClip = 2.5F;

  MERGEWISE_HD static std::uint64_t code_bytes(const GroupView& group) {
    return (group.elements + 3) / 4;
  }
  static std::uint64_t bytes(const GroupView& group) {
    return code_bytes(group) + sizeof(float) * group.tensors;
  }
  /// A sum, a limit and a largest magnitude of each tensor, then a byte for each element.
  static std::uint64_t scratch_bytes(const GroupView& group) {
    return (sizeof(double) + 2 * sizeof(float)) * group.tensors + group.elements;
  }

  template <typename On, typename F>
  static void encode(const On& on, const CompressArguments& arguments, const F& value) {
    const GroupView group = arguments.group;
    std::byte* const message = arguments.message;
    auto* const squares = reinterpret_cast<double*>(arguments.scratch);
    auto* const limits = reinterpret_cast<float*>(squares + group.tensors);
    float* const largest = limits + group.tensors;
    auto* const codes = reinterpret_cast<std::byte*>(largest + group.tensors);
    on.sum_by_tensor(
        group, [=] MERGEWISE_HD(std::uint64_t i) { return value(i) * value(i); }, squares);
    on.for_each(group.tensors, [=] MERGEWISE_HD(std::uint64_t t) {
      const auto count = static_cast<double>(group.begins[t + 1] - group.begins[t]);
      limits[t] = static_cast<float>(kClip * std::sqrt(squares[t] / count));
    });
    on.max_by_tensor(
        group,
        [=] MERGEWISE_HD(std::uint64_t i, std::uint32_t tensor) {
          return smaller(std::fabs(value(i)), limits[tensor]);
        },
        largest);
    on.for_each(group.tensors, [=] MERGEWISE_HD(std::uint64_t t) {
      store(message + code_bytes(group), t, largest[t]);
    });
    for_each_drawn(on, group, arguments.draws,
                   [=] MERGEWISE_HD(std::uint64_t i, std::uint32_t tensor, std::uint32_t drawn) {
                     const float x = value(i);
                     const float part = smaller(std::fabs(x), limits[tensor]) / largest[tensor];
                     const bool sent = largest[tensor] > 0 && unit_of(drawn) < part;
                     codes[i] = static_cast<std::byte>(!sent ? 0 : x > 0 ? 1 : 2);
                   });
    on.for_each(code_bytes(group), [=] MERGEWISE_HD(std::uint64_t byte) {
      unsigned bits = 0;
      for (std::uint64_t i = 4 * byte; i < 4 * byte + 4 && i < group.elements; ++i) {
        bits |= static_cast<unsigned>(codes[i]) << (2 * (i % 4));
      }
      message[byte] = static_cast<std::byte>(bits);
    });
  }

  struct Decoder {
    GroupView group;
    const std::byte* message;
    MERGEWISE_HD float operator()(std::uint64_t i, std::uint32_t tensor) const {
      const unsigned code = static_cast<unsigned>(message[i / 4]) >> (2 * (i % 4)) & 3U;
      if (code == 0) return 0;
      const auto largest = load<float>(message + code_bytes(group), tensor);
      return code == 1 ? largest : -largest;
    }
  };
};

}  // namespace mergewise
