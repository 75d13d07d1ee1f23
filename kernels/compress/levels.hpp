// SPDX-License-Identifier: Apache-2.0
// Codes of a few levels, rounded up or down by chance so that their mean is the value.
#pragma once

#include "kernels/compress/coded.hpp"
#include "kernels/compress/scales.hpp"

#include <cmath>

namespace mergewise {

/// QSGD's (Alistarh et al., section 3.1, with the 2-norm): a signed byte for each element, and the
/// norm of each bucket. Buckets are the group's "tensors" here.
struct QuantisedLevels : MeanOfRanks {
  static constexpr unsigned kBits = 8;
  static constexpr Draws kDraws = Draws::kAll;
  static constexpr std::size_t kScales = 1;
  static constexpr std::size_t kSums = 1;
  static constexpr float kLevels = 127;
  struct Scale {
    float norm;
  };

  template <typename On>
  static void set_scales(const On& on, const CompressArguments& arguments, const Source& source,
                         double* sums, std::byte* scales) {
    on.sums_by_tensor(arguments.group, source, SumOfSquares{}, sums, arguments.facts);
    on.for_each(arguments.group.tensors, [=] MERGEWISE_HD_LAMBDA(std::uint64_t t) {
      store(scales, t, finite_scale(std::sqrt(sums[t])));
    });
  }

  MERGEWISE_HD static Scale scale(const std::byte* scales, std::uint32_t tensor) {
    return {load<float>(scales, tensor)};
  }
  /// 0 where the norm is; the draw decides between the levels beside 127 |x| / norm.
  MERGEWISE_HD static unsigned code(Scale scale, float x, std::uint32_t draw) {
    const float part = scale.norm > 0 ? absolute(x) / scale.norm : 0;
    const float exact = smaller(kLevels * part, kLevels);
    const auto below = static_cast<std::int32_t>(exact);
    const std::int32_t up = unit_of(draw) < exact - static_cast<float>(below) ? 1 : 0;
    const std::int32_t level = below + up;
    return static_cast<unsigned>(x < 0 ? -level : level) & 0xFFU;
  }
  MERGEWISE_HD static float decoded(Scale scale, unsigned code) {
    return scale.norm / kLevels * static_cast<float>(static_cast<std::int8_t>(code));
  }
};

/// TernGrad's: two bits for each element (0, 1: +1, 2: -1), and for each tensor the largest
/// magnitude after clipping at 2.5 standard deviations. These are deviations from zero, which
/// gradients scatter around: from their mean, a tensor of nearly equal elements would be clipped
/// away.
struct TernaryLevels : MeanOfRanks {
  static constexpr unsigned kBits = 2;
  static constexpr Draws kDraws = Draws::kAll;
  static constexpr std::size_t kScales = 1;
  static constexpr std::size_t kSums = 2;  // the second one: room for a limit and a maximum
  static constexpr float kClip = 2.5F;
  struct Scale {
    float largest;
  };
  struct Sum {
    MERGEWISE_HD Sums<float, 1> operator()(float x) const { return {{x * x}}; }
  };

  template <typename On>
  static void set_scales(const On& on, const CompressArguments& arguments, const Source& source,
                         double* sums, std::byte* scales) {
    const GroupView group = arguments.group;
    auto* const limits = reinterpret_cast<float*>(sums + group.tensors);
    float* const largest = limits + group.tensors;
    on.sums_by_tensor(group, source, Sum{}, sums, arguments.facts);
    on.for_each(group.tensors, [=] MERGEWISE_HD_LAMBDA(std::uint64_t t) {
      const auto count = static_cast<double>(count_of(group, static_cast<std::uint32_t>(t)));
      // Squares of tiny numbers are 0: nothing is clipped then.
      limits[t] = sums[t] > 0 ? finite_scale(kClip * std::sqrt(sums[t] / count)) : kLargestFloat;
    });
    on.largest_by_tensor(group, source, limits, largest);
    on.for_each(group.tensors,
                [=] MERGEWISE_HD_LAMBDA(std::uint64_t t) { store(scales, t, largest[t]); });
  }

  MERGEWISE_HD static Scale scale(const std::byte* scales, std::uint32_t tensor) {
    return {load<float>(scales, tensor)};
  }
  /// What was clipped counts as the largest: no other magnitude is above it.
  MERGEWISE_HD static unsigned code(Scale scale, float x, std::uint32_t draw) {
    const float part = scale.largest > 0 ? smaller(absolute(x) / scale.largest, 1) : 0;
    const bool sent = unit_of(draw) < part;
    return !sent ? 0 : x > 0 ? 1 : 2;
  }
  MERGEWISE_HD static float decoded(Scale scale, unsigned code) {
    return code == 0 ? 0 : code == 1 ? scale.largest : -scale.largest;
  }
};

}  // namespace mergewise
