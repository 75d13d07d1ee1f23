// SPDX-License-Identifier: Apache-2.0
// Reads a profile once into prefix sums and the cost models that its compressor selects.
#include "bench/plan/time_model.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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

/// The rule of TimeModel::forward(tensor).
std::vector<Nanoseconds> forward_times(const Profile& profile) {
  if (profile.tensors.empty()) {
    throw InputError(
        fmt::format("profile '{}' has no tensors, expected at least one", profile.name));
  }
  Nanoseconds given = 0;
  Nanoseconds backward = 0;  // of the tensors without a forward time
  double without = 0;
  for (const ProfileTensor& tensor : profile.tensors) {
    given += tensor.forward_ns.value_or(0);
    if (tensor.forward_ns) continue;
    backward += tensor.backward_ns;
    without += 1;
  }
  constexpr double kRounding = 1e-9;
  const Nanoseconds left = profile.forward_ns - given;
  if (left < -kRounding * profile.forward_ns) {
    throw InputError(
        fmt::format("profile '{}': the forward times of its tensors add up to {} ns, more than its "
                    "forward_ns of {}: correct one of them",
                    profile.name, given, profile.forward_ns));
  }
  std::vector<Nanoseconds> times;
  times.reserve(profile.tensors.size());
  for (const ProfileTensor& tensor : profile.tensors) {
    const double share = backward > 0 ? tensor.backward_ns / backward : 1 / without;
    times.push_back(tensor.forward_ns ? *tensor.forward_ns : std::max(left, 0.0) * share);
  }
  if (without == 0) times.back() += std::max(left, 0.0);
  return times;
}

std::vector<std::size_t> layer_runs(const std::vector<ProfileTensor>& tensors) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool last = i + 1 == tensors.size();
    if (last || tensors[i].layer.empty() || tensors[i].layer != tensors[i + 1].layer) {
      ends.push_back(i + 1);
    }
  }
  return ends;
}

}  // namespace

TimeModel::TimeModel(const Profile& profile)
    : name_(profile.name),
      ranks_(profile.ranks),
      wire_{compressor_of(profile), size_of(profile.grad_dtype)},
      pack_(profile.pack),
      unpack_(profile.unpack),
      update_(profile.update),
      forward_(profile.forward_ns),
      accumulation_(profile.accumulation),
      tensor_forward_(forward_times(profile)),
      layer_ends_(layer_runs(profile.tensors)) {
  for (const Collective collective : kCollectives) {
    const std::optional<CollectiveCost>& cost = cost_of(profile, collective);
    if (cost) costs_[static_cast<std::size_t>(collective)] = cost->planning();
  }
  if (has_cost(collective())) transfer_ = *costs_[static_cast<std::size_t>(collective())];
  if (!wire_.dense()) {
    const auto found = profile.compressors.find(wire_.compressor());
    if (found == profile.compressors.end()) {
      throw InputError(
          fmt::format("profile '{0}' has no costs of its compressor '{1}': measure them with "
                      "`mergewise calibrate --compressor {1}`, or add them to 'compressors'",
                      profile.name, wire_.compressor()));
    }
    compress_ = found->second.compress;
    decompress_ = found->second.decompress;
  }

  const std::size_t count = profile.tensors.size();
  backward_.reserve(count);
  ready_.reserve(count);
  bytes_.reserve(count);
  offset_.reserve(count + 1);
  counted_.reserve(count + 1);
  vectors_.reserve(count + 1);
  offset_.push_back(0);
  counted_.push_back(0);
  vectors_.push_back(0);
  Nanoseconds ready = 0;
  for (const ProfileTensor& tensor : profile.tensors) {
    ready += tensor.backward_ns;
    backward_.push_back(tensor.backward_ns);
    ready_.push_back(ready);
    bytes_.push_back(tensor.bytes);
    offset_.push_back(offset_.back() + tensor.bytes);
    counted_.push_back(counted_.back() + (tensor.bytes > 0 ? 1 : 0));
    vectors_.push_back(vectors_.back() + (tensor.shape.size() == 1 ? tensor.bytes : 0));
  }
}

TimeModel TimeModel::merged(const std::vector<std::size_t>& ends) const {
  MERGEWISE_CHECK(!ends.empty() && ends.back() == tensor_count(), "runs cover all tensors");
  TimeModel coarse = *this;
  for (auto* values : {&coarse.tensor_forward_, &coarse.backward_, &coarse.ready_}) values->clear();
  coarse.bytes_.clear();
  coarse.offset_ = {0};
  coarse.counted_ = {0};
  coarse.vectors_ = {0};
  coarse.layer_ends_.clear();
  std::size_t begin = 0;
  std::size_t layer = 0;
  for (const std::size_t end : ends) {
    MERGEWISE_CHECK(end > begin, "runs are not empty");
    coarse.tensor_forward_.push_back(std::accumulate(
        tensor_forward_.begin() + static_cast<std::ptrdiff_t>(begin),
        tensor_forward_.begin() + static_cast<std::ptrdiff_t>(end), Nanoseconds{0}));
    coarse.backward_.push_back(ready_[end - 1] - (begin == 0 ? 0 : ready_[begin - 1]));
    coarse.ready_.push_back(ready_[end - 1]);
    coarse.bytes_.push_back(bytes(begin, end));
    coarse.offset_.push_back(offset_[end]);
    coarse.counted_.push_back(counted_[end]);
    coarse.vectors_.push_back(vectors_[end]);
    // A layer ends with the run that holds the end of its last tensor.
    while (layer < layer_ends_.size() && layer_ends_[layer] < end) ++layer;
    if (layer_ends_[layer] == end) coarse.layer_ends_.push_back(coarse.bytes_.size());
    begin = end;
  }
  return coarse;
}

Nanoseconds TimeModel::compressed_transfer(std::size_t begin, std::size_t end) const {
  const Bytes sent = wire_bytes(begin, end);
  const int messages = wire_.messages();
  return messages == 1 ? transfer_(sent) : messages * transfer_(sent / messages);
}

Nanoseconds TimeModel::collective_time(Collective collective, Bytes bytes) const {
  const std::optional<CostModel>& cost = costs_[static_cast<std::size_t>(collective)];
  MERGEWISE_CHECK(cost.has_value(), "a collective without a cost was asked for its time");
  return (*cost)(bytes);
}

void TimeModel::require_cost(Collective collective, std::string_view who) const {
  if (has_cost(collective)) return;
  throw UnsupportedError(
      fmt::format("profile '{}' has no cost of '{}', which {} needs: add it to the profile or "
                  "choose another strategy or compressor",
                  name_, name_of(collective), who));
}

int TimeModel::require_ranks(std::string_view who) const {
  if (ranks_) return *ranks_;
  throw UnsupportedError(fmt::format(
      "profile '{}' has no number of 'ranks', which {} needs: add it to the profile", name_, who));
}

void TimeModel::require_dense(std::string_view who) const {
  if (wire_.dense()) return;
  throw UnsupportedError(
      fmt::format("profile '{}' compresses with '{}', but {} sends dense gradients only: choose "
                  "compressor 'none' or another strategy",
                  name_, wire_.compressor(), who));
}

const LinearCost* TimeModel::dense_line() const {
  return wire_.dense() && has_cost(collective()) ? transfer_.linear() : nullptr;
}

bool TimeModel::only_transfers() const {
  return pack_.is_zero() && compress_.is_zero() && decompress_.is_zero() && unpack_.is_zero() &&
         update_.is_zero();
}

}  // namespace mergewise
