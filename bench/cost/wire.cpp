// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/wire.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace detail {

/// What a group of n > 0 elements in t tensors makes, k of them being selected.
struct Content {
  Bytes n;
  Bytes t;
  Bytes k;
};

struct MessageRule {
  const char* id;
  Collective collective;
  Bytes (*bytes)(const Content&);
};

}  // namespace detail

namespace {

using detail::Content;
using detail::MessageRule;

constexpr Bytes kBucket = 512;       // of qsgd: elements that share a norm
constexpr Bytes kIndexAndValue = 8;  // int32 index, fp32 value
constexpr Bytes kValue = 4;          // fp32: a value, a scale or a norm

Bytes pieces(Bytes n, Bytes size) { return (n + size - 1) / size; }
Bytes signs(const Content& group) { return pieces(group.n, 8); }

constexpr auto kReduced = Collective::kAllReduce;
constexpr auto kGathered = Collective::kAllGather;

const MessageRule kRules[] = {
    {"none", kReduced, nullptr},
    {"fp16", kReduced, [](const Content& g) { return 2 * g.n; }},
    {"bf16", kReduced, [](const Content& g) { return 2 * g.n; }},
    {"topk", kGathered, [](const Content& g) { return kIndexAndValue * g.k; }},
    {"dgc", kGathered, [](const Content& g) { return kIndexAndValue * g.k; }},
    {"randk", kReduced, [](const Content& g) { return kValue * g.k; }},
    {"qsgd", kGathered, [](const Content& g) { return g.n + kValue * pieces(g.n, kBucket); }},
    {"signsgd", kGathered, [](const Content& g) { return signs(g); }},
    {"ef_signsgd", kGathered, [](const Content& g) { return signs(g) + kValue * g.t; }},
    {"onebit", kGathered, [](const Content& g) { return signs(g) + 2 * kValue * g.t; }},
    {"signum", kGathered, [](const Content& g) { return signs(g); }},
    {"terngrad", kGathered, [](const Content& g) { return pieces(g.n, 4) + kValue * g.t; }},
};

const MessageRule& rule_of(const std::string& compressor) {
  for (const MessageRule& rule : kRules) {
    if (compressor == rule.id) return rule;
  }
  throw InputError(unknown_name("compressor", compressor, compressor_ids()));
}

}  // namespace

const char* name_of(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce:
      return "all_reduce";
    case Collective::kAllGather:
      return "all_gather";
    case Collective::kReduceScatter:
      return "reduce_scatter";
  }
  return "unknown";
}

Collective collective_from(const std::string& name) {
  std::vector<std::string> names;
  for (const Collective collective : kCollectives) {
    if (name == name_of(collective)) return collective;
    names.emplace_back(name_of(collective));
  }
  throw InputError(unknown_name("collective", name, names));
}

WireFormat::WireFormat(const std::string& compressor, double density, Bytes element_bytes)
    : compressor_(compressor),
      density_(density),
      element_bytes_(element_bytes),
      dense_(compressor == "none"),
      rule_(&rule_of(compressor)) {
  if (!(density > 0 && density <= 1)) {
    throw InputError(fmt::format("density is {}, expected a number above 0, at most 1", density));
  }
  if (element_bytes < 1) {
    throw InputError(fmt::format("an element has {} bytes, expected at least 1", element_bytes));
  }
}

Collective WireFormat::collective() const { return rule_->collective; }

Bytes WireFormat::compressed_bytes(Bytes dense, std::int64_t tensors) const {
  const Bytes n = dense / element_bytes_;
  if (n <= 0) return 0;
  const auto wanted = static_cast<Bytes>(std::floor(density_ * static_cast<double>(n)));
  return rule_->bytes({n, tensors, std::min(n, std::max<Bytes>(1, wanted))});
}

}  // namespace mergewise
