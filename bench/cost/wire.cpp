// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/wire.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mergewise {
namespace detail {

/// What a group of n > 0 elements sends with t scales, k elements being selected, and v sent as
/// they are.
struct Content {
  Bytes n;
  Bytes t;
  Bytes k;
  Bytes v;
  const CompressorSpec& spec;
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

constexpr Bytes kValue = 4;  // fp32: a value, a scale or a norm

Bytes pieces(Bytes n, Bytes size) { return n / size + (n % size != 0 ? 1 : 0); }
Bytes buckets(const Content& group) {
  return group.spec.bucket > 0 ? pieces(group.n, group.spec.bucket) : 1;
}
// An index, of an int32 where it counts the elements, else of an int64, and an fp32 value.
Bytes entry(const Content& group) { return (group.n <= 0x7FFFFFFF ? 4 : 8) + kValue; }
Bytes signs(const Content& group) { return pieces(group.n, 8); }

constexpr auto kReduced = Collective::kAllReduce;
constexpr auto kGathered = Collective::kAllGather;

const MessageRule kRules[] = {
    {"none", kReduced, nullptr},
    {"fp16", kReduced, [](const Content& g) { return 2 * g.n; }},
    {"bf16", kReduced, [](const Content& g) { return 2 * g.n; }},
    {"topk", kGathered, [](const Content& g) { return entry(g) * g.k; }},
    {"dgc", kGathered, [](const Content& g) { return entry(g) * g.k + kValue * g.v; }},
    {"randk", kReduced,
     [](const Content& g) { return (g.spec.sends_indices ? entry(g) : kValue) * g.k; }},
    {"qsgd", kGathered, [](const Content& g) { return g.n + kValue * buckets(g); }},
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

WireFormat::WireFormat(CompressorSpec compressor, Bytes element_bytes)
    : spec_(std::move(compressor)),
      element_bytes_(element_bytes),
      rule_(&rule_of(spec_.id)),
      dense_(spec_.id == "none"),
      messages_(spec_.messages) {
  if (!(spec_.density > 0 && spec_.density <= 1)) {
    throw InputError(
        fmt::format("density is {}, expected a number above 0, at most 1", spec_.density));
  }
  if (element_bytes < 1) {
    throw InputError(fmt::format("an element has {} bytes, expected at least 1", element_bytes));
  }
}

Collective WireFormat::collective() const {
  return spec_.sends_indices ? Collective::kAllGather : rule_->collective;
}

Bytes WireFormat::compressed_bytes(Bytes dense, std::int64_t tensors, Bytes vectors) const {
  const Bytes n = dense / element_bytes_;
  if (n <= 0) return 0;
  const Bytes kept = spec_.dense_vectors ? vectors / element_bytes_ : 0;
  const Bytes rest = n - kept;
  const auto wanted = static_cast<Bytes>(spec_.density * static_cast<double>(rest));  // rounds down
  return rule_->bytes({n, spec_.group_scale ? 1 : tensors,
                       std::min(rest, std::max<Bytes>(1, wanted)), kept, spec_});
}

}  // namespace mergewise
