// SPDX-License-Identifier: Apache-2.0
// What the contract holds for: every compressor, set in every way.
#pragma once

#include "tests/contract/compressors/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace mergewise::test {

struct Case {
  std::string id;
  Given given;
};

/// Every compressor with every memory that it accepts, and the papers' variants.
inline std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& id : compressor_ids()) {
    if (id == "none") continue;
    for (const std::string& memory : compressor_memories(id)) {
      all.push_back({id, {{"memory", memory}}});
    }
  }
  const std::int64_t two = 2;
  const std::vector<Case> variants{
      {"topk", {{"messages", two}}},
      {"dgc", {{"vectors", "sparse"}}},
      {"dgc", {{"clip", 0.5}}},
      {"randk", {{"indices", "sent"}}},
      {"randk", {{"indices", "sent"}, {"memory", "residual"}}},
      {"randk", {{"indices", "sent"}, {"messages", two}}},
      {"qsgd", {{"bucket", std::int64_t{0}}, {"memory", "residual"}}},
      {"qsgd", {{"bucket", std::int64_t{64}}}},
      {"ef_signsgd", {{"scale", "group"}}},
      {"onebit", {{"scale", "group"}}},
      {"terngrad", {{"scale", "group"}, {"memory", "residual"}}},
  };
  all.insert(all.end(), variants.begin(), variants.end());
  return all;
}

inline bool is(const Case& one, const std::string& option, const OptionValue& value) {
  const auto found = one.given.find(option);
  return found != one.given.end() && found->second == value;
}

template <typename F>
std::vector<Case> cases_where(const F& fits) {
  std::vector<Case> chosen = cases();
  std::erase_if(chosen, [&](const Case& one) { return !fits(one); });
  return chosen;
}

// Empty tensors, one of a single element, one beyond a chunk, none a multiple of 8.
inline const std::vector<std::size_t> kSizes{5, 0, 1, 300, 4099, 13, 0};
inline const std::vector<bool> kVectors{true, false, true, false, false, true, true};

inline bool is_sparse(const std::string& id) {
  const auto& options = compressor_options(id);
  return std::any_of(options.begin(), options.end(),
                     [](const OptionSpec& option) { return option.name == "density"; });
}

inline std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.id;
  for (const auto& [option, value] : info.param.given) {
    name += "_" + (option == "memory" ? "" : option) + to_string(value);
  }
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

class CompressorContract : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] std::unique_ptr<Compressor> make(double density = 0.1,
                                                 std::uint64_t seed = 9) const {
    Given given = GetParam().given;
    if (is_sparse(GetParam().id)) given["density"] = density;
    return test::make(GetParam().id, given, seed);
  }
};

}  // namespace mergewise::test
