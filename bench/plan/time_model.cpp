// SPDX-License-Identifier: Apache-2.0
// Reads a profile once into prefix sums and the cost models that its compressor selects.
#include "bench/plan/time_model.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

namespace mergewise {
namespace {

const std::optional<CollectiveCost>& cost_of(const Profile& profile, Collective collective) {
  switch (collective) {
    case Collective::kAllReduce:
      return profile.all_reduce;
    case Collective::kAllGather:
      return profile.all_gather;
    case Collective::kReduceScatter:
      break;
  }
  return profile.reduce_scatter;
}

}  // namespace

TimeModel::TimeModel(const Profile& profile)
    : wire_{profile.compressor, profile.density, size_of(profile.grad_dtype)},
      pack_(profile.pack),
      unpack_(profile.unpack),
      update_(profile.update),
      forward_(profile.forward_ns) {
  wire_.validate();
  if (profile.tensors.empty()) {
    throw InputError(
        fmt::format("profile '{}' has no tensors, expected at least one", profile.name));
  }
  const std::optional<CollectiveCost>& cost = cost_of(profile, wire_.collective());
  if (!cost) {
    throw UnsupportedError(
        fmt::format("profile '{}' has no cost of '{}', which compressor '{}' needs: add it to the "
                    "profile or choose another compressor",
                    profile.name, name_of(wire_.collective()), wire_.compressor));
  }
  transfer_ = cost->planning();
  if (wire_.compressor != "none") {
    const auto found = profile.compressors.find(wire_.compressor);
    if (found == profile.compressors.end()) {
      throw InputError(
          fmt::format("profile '{}' has no costs of its compressor '{}': add them to 'compressors'",
                      profile.name, wire_.compressor));
    }
    compress_ = found->second.compress;
    decompress_ = found->second.decompress;
  }

  const std::size_t count = profile.tensors.size();
  backward_.reserve(count);
  ready_.reserve(count);
  bytes_.reserve(count);
  offset_.reserve(count + 1);
  offset_.push_back(0);
  Nanoseconds ready = 0;
  for (const ProfileTensor& tensor : profile.tensors) {
    ready += tensor.backward_ns;
    backward_.push_back(tensor.backward_ns);
    ready_.push_back(ready);
    bytes_.push_back(tensor.bytes);
    offset_.push_back(offset_.back() + tensor.bytes);
  }
}

const LinearCost* TimeModel::dense_line() const {
  return wire_.compressor == "none" ? transfer_.linear() : nullptr;
}

bool TimeModel::only_transfers() const {
  return pack_.is_zero() && compress_.is_zero() && decompress_.is_zero() && unpack_.is_zero() &&
         update_.is_zero();
}

}  // namespace mergewise
