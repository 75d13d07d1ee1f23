// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/wire.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

constexpr Bytes kIndexAndValueBytes = 8;  // int32 index, fp32 value

bool is_dense(const WireFormat& wire) { return std::string_view(wire.compressor) == "none"; }

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

const std::vector<std::string>& compressor_ids() {
  static const std::vector<std::string> kIds{"none", "topk"};
  return kIds;
}

void WireFormat::validate() const {
  const std::vector<std::string>& ids = compressor_ids();
  if (std::find(ids.begin(), ids.end(), compressor) == ids.end()) {
    throw InputError(unknown_name("compressor", compressor, ids));
  }
  if (!(density > 0 && density <= 1)) {
    throw InputError(fmt::format("density is {}, expected a number above 0, at most 1", density));
  }
}

Collective WireFormat::collective() const {
  return is_dense(*this) ? Collective::kAllReduce : Collective::kAllGather;
}

Bytes WireFormat::wire_bytes(Bytes dense) const {
  if (is_dense(*this)) return dense;
  const Bytes elements = dense / element_bytes;
  if (elements <= 0) return 0;
  const auto wanted = static_cast<Bytes>(std::floor(density * static_cast<double>(elements)));
  return kIndexAndValueBytes * std::min(elements, std::max<Bytes>(1, wanted));
}

}  // namespace mergewise
