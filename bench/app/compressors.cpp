// SPDX-License-Identifier: Apache-2.0
#include "bench/app/compressors.hpp"

#include "bench/cost/wire.hpp"

#include <fmt/format.h>

namespace mergewise {
namespace {

struct Row {
  const char* id;
  const char* sends;
  bool replayed = false;
};
constexpr Row kRows[] = {
    {"none", "gradients as they are", true},
    {"fp16", "half-precision numbers"},
    {"bf16", "half-precision numbers"},
    {"topk", "the largest values, and where they are"},
    {"dgc", "as topk, the largest by a sampled threshold"},
    {"randk", "values at places that all ranks draw alike"},
    {"qsgd", "8-bit levels, a norm for each bucket"},
    {"signsgd", "signs"},
    {"ef_signsgd", "signs, a scale for each tensor"},
    {"onebit", "signs, two means for each tensor"},
    {"signum", "signs of the momentum"},
    {"terngrad", "2-bit values, a maximum for each tensor"},
};

// The bytes that a compressor of this kind sends depend on its density.
bool is_sparse(const std::string& compressor) {
  constexpr Bytes kGroup = 1 << 20;
  return WireFormat(compressor, 0.001, 4).wire_bytes(kGroup, 1) !=
         WireFormat(compressor, 1, 4).wire_bytes(kGroup, 1);
}

CompressorEntry entry_of(const Row& row) {
  CompressorEntry entry{row.id, "", {}, row.replayed};
  const bool gathered = WireFormat(row.id, 1, 4).collective() == Collective::kAllGather;
  entry.summary = fmt::format(
      "{}, {}; {}", row.sends, gathered ? "all-gather" : "all-reduce",
      row.replayed ? "in the model and replayed" : "in the model only (plan, simulate, reproduce)");
  if (is_sparse(row.id)) {
    entry.options.push_back({.name = "density",
                             .kind = OptionKind::kNumber,
                             .summary = "the part of the elements that is sent",
                             .default_value = 0.001,
                             .minimum = 1e-12,
                             .maximum = 1,
                             .choices = {}});
  }
  return entry;
}

}  // namespace

const std::vector<CompressorEntry>& compressors() {
  static const std::vector<CompressorEntry> kEntries = [] {
    std::vector<CompressorEntry> entries;
    for (const Row& row : kRows) entries.push_back(entry_of(row));
    return entries;
  }();
  return kEntries;
}

}  // namespace mergewise
