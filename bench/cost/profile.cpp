// SPDX-License-Identifier: Apache-2.0
// The profile as a value and as a document; profile_loader.cpp reads it back.
#include "bench/cost/profile.hpp"

#include "bench/core/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>

namespace mergewise {
namespace {

using nlohmann::json;

constexpr const char* kDensity = "density";

json tensor_json(const ProfileTensor& tensor) {
  json out{{"name", tensor.name}, {"bytes", tensor.bytes}, {"backward_ns", tensor.backward_ns}};
  if (tensor.forward_ns) out["forward_ns"] = *tensor.forward_ns;
  if (!tensor.layer.empty()) out["layer"] = tensor.layer;
  if (!tensor.shape.empty()) out["shape"] = tensor.shape;
  return out;
}

// One variant is written as a plain model, which every reader of models understands.
json collective_json(const CollectiveCost& cost) {
  json variants = json::object();
  if (cost.isolated) variants["isolated"] = to_json(*cost.isolated);
  if (cost.back_to_back) variants["back_to_back"] = to_json(*cost.back_to_back);
  if (cost.beside_compute) variants["beside_compute"] = to_json(*cost.beside_compute);
  if (variants.size() != 1) return {{"variants", std::move(variants)}};
  json model = variants.begin().value();
  if (!cost.isolated) model["variant"] = variants.begin().key();
  return model;
}

void add_collectives(json& out, const Profile& profile) {
  if (profile.all_reduce) out["all_reduce"] = collective_json(*profile.all_reduce);
  if (profile.all_gather) out["all_gather"] = collective_json(*profile.all_gather);
  if (profile.reduce_scatter) out["reduce_scatter"] = collective_json(*profile.reduce_scatter);
}

void add_compressors(json& out, const Profile& profile) {
  if (!profile.compressors.empty()) {
    json& costs = out["compressors"] = json::object();
    for (const auto& [id, cost] : profile.compressors) {
      costs[id] = {{"compress", to_json(cost.compress)}, {"decompress", to_json(cost.decompress)}};
    }
  }
  if (profile.compressor != "none") out["compressor"] = profile.compressor;
  out["density"] = profile.density;
  if (!profile.compressor_options.values().empty()) {
    out["compressor_options"] = to_json(profile.compressor_options);
  }
}

}  // namespace

const CostModel& CollectiveCost::planning() const {
  if (beside_compute) return *beside_compute;
  if (back_to_back) return *back_to_back;
  MERGEWISE_CHECK(isolated.has_value(), "a collective's cost has no variant");
  return *isolated;
}

const char* CollectiveCost::planning_variant() const {
  if (beside_compute) return "beside_compute";
  return back_to_back ? "back_to_back" : "isolated";
}

CompressorSpec compressor_of(const Profile& profile, std::uint64_t run_seed) {
  Options options = profile.compressor_options;
  const std::vector<OptionSpec>& known = compressor_options(profile.compressor);
  const bool sparse = std::any_of(known.begin(), known.end(),
                                  [](const OptionSpec& option) { return option.name == kDensity; });
  if (sparse) options.set(kDensity, profile.density);
  return compressor_spec(profile.compressor, options, run_seed);
}

void set_compressor(Profile& profile, const std::string& id, const Options& options) {
  profile.compressor = id;
  profile.density = CompressorSpec{}.density;
  profile.compressor_options = {};
  const Options complete = resolve(compressor_options(id), options);
  for (const auto& [name, value] : complete.values()) {
    if (name == kDensity) {
      profile.density = std::get<double>(value);
    } else if (options.contains(name)) {
      profile.compressor_options.set(name, value);
    }
  }
}

bool operator==(const Profile& a, const Profile& b) {
  const auto fields = [](const Profile& p) {
    return std::tie(p.name, p.forward_ns, p.tensors, p.all_reduce, p.all_gather, p.reduce_scatter,
                    p.compressors, p.compressor, p.density, p.compressor_options, p.ranks,
                    p.grad_dtype, p.accumulation, p.options, p.pack, p.unpack, p.update);
  };
  return fields(a) == fields(b);
}

json to_json(const CostModel& model) {
  if (const LinearCost* line = model.linear()) {
    return {{"model", "linear"}, {"a_ns", line->a_ns}, {"b_ns_per_byte", line->b_ns_per_byte}};
  }
  if (const BestOfCost* best = model.best_of()) {
    json lines = json::array();
    for (const LinearCost& line : best->lines) {
      lines.push_back({{"a_ns", line.a_ns}, {"b_ns_per_byte", line.b_ns_per_byte}});
    }
    return {{"model", "best_of"}, {"lines", std::move(lines)}};
  }
  json points = json::array();
  for (const auto& [bytes, ns] : model.measured()->points) points.push_back({bytes, ns});
  return {{"model", "measured"}, {"points", std::move(points)}};
}

json to_json(const Options& options) {
  json out = json::object();
  for (const auto& [name, value] : options.values()) {
    std::visit([&, key = name](const auto& held) { out[key] = held; }, value);
  }
  return out;
}

json to_json(const Profile& profile) {
  json out{{"schema", kProfileSchema}, {"name", profile.name}, {"forward_ns", profile.forward_ns}};
  // fp32 is what a reader assumes; naming it would also ask for whole elements of 4 bytes.
  if (profile.grad_dtype != DType::kFloat32) out["grad_dtype"] = name_of(profile.grad_dtype);
  if (profile.accumulation != 1) out["accumulation"] = profile.accumulation;
  if (profile.ranks) out["ranks"] = *profile.ranks;
  json& tensors = out["tensors"] = json::array();
  for (const ProfileTensor& tensor : profile.tensors) tensors.push_back(tensor_json(tensor));
  add_collectives(out, profile);
  add_compressors(out, profile);
  if (!profile.options.values().empty()) out["options"] = to_json(profile.options);
  if (!profile.pack.is_zero()) out["pack"] = to_json(profile.pack);
  if (!profile.unpack.is_zero()) out["unpack"] = to_json(profile.unpack);
  if (!profile.update.is_zero()) out["update"] = to_json(profile.update);
  return out;
}

}  // namespace mergewise
