// SPDX-License-Identifier: Apache-2.0
// Codes of one bit an element: set where it counts as positive.
#pragma once

#include "kernels/compress/coded.hpp"
#include "kernels/compress/scales.hpp"

namespace mergewise {

/// SignSGD's: nothing but signs, +1 or -1, and what most ranks say. That of zero, and of as many
/// that say one as the other, falls by a coin, the same on all ranks.
struct SignVote {
  static constexpr unsigned kBits = 1;
  static constexpr Draws kDraws = Draws::kOfZeros;
  static constexpr bool kSharedDraws = true;
  static constexpr std::size_t kScales = 0;
  static constexpr std::size_t kSums = 0;
  using Source = Accumulated;
  struct Scale {};

  MERGEWISE_HD static Scale scale(const std::byte*, std::uint32_t) { return {}; }
  MERGEWISE_HD static unsigned code(Scale, float x, std::uint32_t draw) {
    return x > 0 || (x == 0 && (draw & 1U) != 0) ? 1 : 0;
  }
  MERGEWISE_HD static float decoded(Scale, unsigned code) { return code != 0 ? 1.0F : -1.0F; }
  MERGEWISE_HD static float kept(float x, float said) { return x - said; }
  MERGEWISE_HD static float mean(float sum, std::uint32_t, std::uint32_t draw) {
    return decoded({}, code({}, sum, draw >> 1));  // another coin than that of a rank's zero
  }
};

/// Signum's: the same of the momentum, which is the memory.
struct MomentumVote : SignVote {
  using Source = Decayed;
  MERGEWISE_HD static float kept(float x, float) { return x; }
};

/// Signs that need no coin: zero counts as positive.
struct SignsOfSource : MeanOfRanks {
  static constexpr unsigned kBits = 1;
  static constexpr Draws kDraws = Draws::kNone;

  template <typename Scale>
  MERGEWISE_HD static unsigned code(const Scale&, float x, std::uint32_t) {
    return x >= 0 ? 1 : 0;
  }
};

/// EF-SignSGD's: signs, and the mean magnitude of each tensor.
struct ScaledSigns : SignsOfSource {
  static constexpr std::size_t kScales = 1;
  static constexpr std::size_t kSums = 1;
  struct Scale {
    float magnitude;
  };
  struct Sum {
    MERGEWISE_HD Sums<float, 1> operator()(float x) const { return {{absolute(x)}}; }
  };

  template <typename On>
  static void set_scales(const On& on, const CompressArguments& arguments, const Source& source,
                         double* sums, std::byte* scales) {
    const GroupView group = arguments.group;
    on.sums_by_tensor(group, source, Sum{}, sums, arguments.facts);
    on.for_each(group.tensors, [=] MERGEWISE_HD_LAMBDA(std::uint64_t t) {
      const auto tensor = static_cast<std::uint32_t>(t);
      store(scales, t, finite_scale(sums[t] / static_cast<double>(count_of(group, tensor))));
    });
  }

  MERGEWISE_HD static Scale scale(const std::byte* scales, std::uint32_t tensor) {
    return {load<float>(scales, tensor)};
  }
  MERGEWISE_HD static float decoded(Scale scale, unsigned code) {
    return code != 0 ? scale.magnitude : -scale.magnitude;
  }
};

/// 1-bit SGD's in MergeComp's form: for each tensor the mean of its negative elements and that of
/// the others; 0 for that of none.
struct OneBit : SignsOfSource {
  static constexpr std::size_t kScales = 2;
  static constexpr std::size_t kSums = 3;
  struct Scale {
    float below;
    float others;
  };
  /// Of the negative elements, of the others, and how many are negative.
  struct Sum {
    MERGEWISE_HD Sums<float, 3> operator()(float x) const {
      return {{smaller(x, 0), larger(x, 0), x < 0 ? 1.0F : 0.0F}};
    }
  };

  template <typename On>
  static void set_scales(const On& on, const CompressArguments& arguments, const Source& source,
                         double* sums, std::byte* scales) {
    const GroupView group = arguments.group;
    on.sums_by_tensor(group, source, Sum{}, sums, arguments.facts);
    on.for_each(group.tensors, [=] MERGEWISE_HD_LAMBDA(std::uint64_t t) {
      const double negatives = sums[3 * t + 2];
      const auto tensor = static_cast<std::uint32_t>(t);
      const double rest = static_cast<double>(count_of(group, tensor)) - negatives;
      store(scales, 2 * t, finite_scale(negatives > 0 ? sums[3 * t] / negatives : 0));
      store(scales, 2 * t + 1, finite_scale(rest > 0 ? sums[3 * t + 1] / rest : 0));
    });
  }

  MERGEWISE_HD static Scale scale(const std::byte* scales, std::uint32_t tensor) {
    return {load<float>(scales, 2 * std::uint64_t{tensor}),
            load<float>(scales, 2 * std::uint64_t{tensor} + 1)};
  }
  MERGEWISE_HD static float decoded(Scale scale, unsigned code) {
    return code != 0 ? scale.others : scale.below;
  }
};

}  // namespace mergewise
