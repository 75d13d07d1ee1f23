// SPDX-License-Identifier: Apache-2.0
// Reads profiles: each value is checked where it stands, so that messages name its place.
#include "bench/config/choices.hpp"
#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "bench/cost/profile.hpp"
#include "bench/cost/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace mergewise {
namespace {

// Of times and slopes. Sums of products of what a profile may have stay far from infinity.
constexpr double kLargest = 1e18;
constexpr std::int64_t kMostRanks = 1'000'000;
constexpr std::int64_t kMostAccumulation = 1'000'000;

using Words = std::vector<std::string>;

double cost_number(const Node& node) { return node.as_number(0, kLargest); }

MeasuredCost read_points(const Node& node) {
  MeasuredCost cost;
  const std::vector<Node>& points = node.as_list();
  if (points.empty()) node.fail("'points' is empty, expected at least one [bytes, ns]");
  cost.points.reserve(points.size());
  for (const Node& point : points) {
    const std::vector<Node>& pair = point.as_list();
    if (pair.size() != 2) {
      point.fail(fmt::format("a point has {} numbers, expected [bytes, ns]", pair.size()));
    }
    const Bytes bytes = pair[0].as_integer(0, kMostBytes);
    if (!cost.points.empty() && bytes <= cost.points.back().first) {
      pair[0].fail(fmt::format("{} bytes follow {} bytes, expected points by increasing bytes",
                               bytes, cost.points.back().first));
    }
    cost.points.emplace_back(bytes, cost_number(pair[1]));
  }
  return cost;
}

LinearCost read_line(const Node& node) {
  return {cost_number(node.at("a_ns")), cost_number(node.at("b_ns_per_byte"))};
}

BestOfCost read_lines(const Node& node) {
  BestOfCost cost;
  for (const Node& line : node.as_list()) {
    line.allow_keys({"a_ns", "b_ns_per_byte"});
    cost.lines.push_back(read_line(line));
  }
  if (cost.lines.empty()) node.fail("'lines' is empty, expected at least one line");
  return cost;
}

// A model object; `also` names a key that is allowed beside the model's own.
CostModel read_model(const Node& node, const char* also = nullptr) {
  const std::string form =
      one_of(node.at("model"), "cost model", {"linear", "measured", "best_of"});
  Words keys{"model"};
  if (form == "linear") keys.insert(keys.end(), {"a_ns", "b_ns_per_byte"});
  if (form == "measured") keys.emplace_back("points");
  if (form == "best_of") keys.emplace_back("lines");
  if (also != nullptr) keys.emplace_back(also);
  node.allow_keys(keys);
  if (form == "measured") return read_points(node.at("points"));
  if (form == "best_of") return read_lines(node.at("lines"));
  return read_line(node);
}

std::optional<CostModel>& variant_of(CollectiveCost& cost, std::string_view name) {
  if (name == "isolated") return cost.isolated;
  return name == "back_to_back" ? cost.back_to_back : cost.beside_compute;
}

CollectiveCost read_collective(const Node& node) {
  static const Words kVariants{"isolated", "back_to_back", "beside_compute"};
  CollectiveCost cost;
  const std::optional<Node> variants = node.find("variants");
  if (!variants) {
    const std::optional<Node> variant = node.find("variant");
    const std::string name = variant ? one_of(*variant, "variant", kVariants) : "isolated";
    variant_of(cost, name) = read_model(node, "variant");
    return cost;
  }
  node.allow_keys({"variants"});
  variants->allow_keys(kVariants);
  if (variants->as_map().empty()) {
    variants->fail(fmt::format("'variants' is empty, expected one of {}", join(kVariants)));
  }
  for (const auto& [name, model] : variants->as_map()) {
    variant_of(cost, name.text()) = read_model(model);
  }
  return cost;
}

Options read_strategy_options(const Node& node) {
  Options options;
  for (const auto& [name, value] : node.as_map()) {
    if (!value.is_scalar()) {
      value.fail(fmt::format("option '{}' is not a number or a word", name.as_string()));
    }
    OptionValue parsed = value.quoted() ? OptionValue(value.text()) : parse_value(value.text());
    const auto* number = std::get_if<double>(&parsed);
    if (number != nullptr && !std::isfinite(*number)) {
      value.fail(fmt::format("option '{}' is '{}', expected a finite number or a word",
                             name.as_string(), value.text()));
    }
    options.set(name.as_string(), std::move(parsed));
  }
  return options;
}

std::vector<std::int64_t> read_shape(const Node& node) {
  std::vector<std::int64_t> shape;
  for (const Node& extent : node.as_list()) shape.push_back(extent.as_integer(0));
  return shape;
}

// One pass over the entries, since a profile may have millions of tensors.
ProfileTensor read_tensor(const Node& node) {
  static const Words kKeys{"name", "bytes", "backward_ns", "forward_ns", "layer", "shape"};
  ProfileTensor tensor;
  int required = 0;
  for (const auto& [key, value] : node.as_map()) {
    const std::string& name = key.text();
    if (name == "name") {
      tensor.name = value.as_string();
      ++required;
    } else if (name == "bytes") {
      tensor.bytes = value.as_integer(0, kMostBytes);
      ++required;
    } else if (name == "backward_ns") {
      tensor.backward_ns = cost_number(value);
      ++required;
    } else if (name == "forward_ns") {
      tensor.forward_ns = cost_number(value);
    } else if (name == "layer") {
      tensor.layer = value.as_string();
    } else if (name == "shape") {
      tensor.shape = read_shape(value);
    } else {
      node.allow_keys(kKeys);
    }
  }
  if (required < 3) {
    for (const char* key : {"name", "bytes", "backward_ns"}) (void)node.at(key);
  }
  if (tensor.name.empty()) node.at("name").fail("a tensor's name is empty");
  return tensor;
}

std::vector<ProfileTensor> read_tensors(const Node& list) {
  const std::vector<Node>& nodes = list.as_list();
  if (nodes.empty()) list.fail("'tensors' is empty, expected at least one tensor");
  if (nodes.size() > kMostTensors) {
    list.fail(fmt::format("there are {} tensors, expected at most {}", nodes.size(), kMostTensors));
  }
  std::vector<ProfileTensor> tensors;
  tensors.reserve(nodes.size());
  std::unordered_map<std::string_view, std::size_t> seen;  // views of names in `tensors`
  seen.reserve(nodes.size());
  Bytes total = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    tensors.push_back(read_tensor(nodes[i]));
    const ProfileTensor& tensor = tensors.back();
    const auto [first, fresh] = seen.emplace(tensor.name, i);
    if (!fresh) {
      nodes[i].at("name").fail(fmt::format("tensor '{}' is there already, at {}; names are unique",
                                           tensor.name, nodes[first->second].at("name").where()));
    }
    total += tensor.bytes;
    if (total > kMostBytes) {
      nodes[i].at("bytes").fail(
          fmt::format("all tensors so far have {} bytes, expected at most {}", total, kMostBytes));
    }
  }
  return tensors;
}

DType read_dtype(const Node& node) {
  const std::string word = one_of(node, "grad_dtype", {"fp32", "bf16", "fp16"});
  if (word == "fp32") return DType::kFloat32;
  return word == "bf16" ? DType::kBfloat16 : DType::kFloat16;
}

// Which element a profile without grad_dtype means matters only to compressors; otherwise bytes
// need to be whole elements of some type, that is even.
void check_elements(const Node& root, const Profile& profile) {
  const bool stated = root.find("grad_dtype").has_value() || profile.compressor != "none";
  const Bytes element = stated ? size_of(profile.grad_dtype) : 2;
  for (std::size_t i = 0; i < profile.tensors.size(); ++i) {
    const ProfileTensor& tensor = profile.tensors[i];
    if (tensor.bytes % element == 0) continue;
    root.at("tensors").as_list()[i].at("bytes").fail(fmt::format(
        "tensor '{}' has {} bytes, expected a multiple of {}{}", tensor.name, tensor.bytes, element,
        stated ? fmt::format(" (elements of {})", name_of(profile.grad_dtype)) : ""));
  }
}

void read_compressor_options(const Node& node, Profile& profile) {
  if (const auto density = node.find("density")) {
    density->fail("the density is the profile's own key: \"density\" beside \"compressor\"");
  }
  profile.compressor_options =
      read_options(node, fmt::format("compressor '{}'", profile.compressor),
                   compressor_options(profile.compressor));
  try {
    (void)compressor_of(profile);
  } catch (const InputError& error) {
    node.fail(error.what());
  }
}

void read_compression(const Node& root, Profile& profile) {
  if (const auto node = root.find("compressors"))
    profile.compressors = compressor_costs_from(*node);
  if (const auto node = root.find("density")) {
    profile.density = node->as_number(0, 1);
    if (profile.density <= 0) node->fail("density is 0, expected a number above 0, at most 1");
  }
  const std::optional<Node> node = root.find("compressor");
  const std::optional<Node> options = root.find("compressor_options");
  if (!node) {
    if (options)
      options->fail("'compressor_options' goes with 'compressor', which is missing here");
    return;
  }
  profile.compressor = one_of(*node, "compressor", compressor_ids());
  if (profile.compressor != "none" && !profile.compressors.contains(profile.compressor)) {
    node->fail(fmt::format(
        "compressor '{0}' has no costs here, expected \"compressors\": {{\"{0}\": {{\"compress\", "
        "\"decompress\"}}}}: `mergewise calibrate --compressor {0}` measures them",
        profile.compressor));
  }
  if (options) read_compressor_options(*options, profile);
}

void note_unknown_keys(const Node& root, Profile& profile) {
  static const Words kKeys{"schema",
                           "name",
                           "forward_ns",
                           "tensors",
                           "all_reduce",
                           "all_gather",
                           "reduce_scatter",
                           "compressors",
                           "compressor",
                           "density",
                           "compressor_options",
                           "ranks",
                           "grad_dtype",
                           "accumulation",
                           "options",
                           "pack",
                           "unpack",
                           "update"};
  for (const auto& [key, value] : root.as_map()) {
    const std::string& name = key.text();
    if (std::find(kKeys.begin(), kKeys.end(), name) != kKeys.end()) continue;
    const std::string hint = nearest(name, kKeys);
    profile.notes.push_back(
        fmt::format("{}: key '{}' does not belong to a profile and is ignored{}", key.where(), name,
                    hint.empty() ? "" : fmt::format(" (did you mean '{}'?)", hint)));
  }
}

}  // namespace

CostModel cost_model_from(const Node& node) { return read_model(node); }

std::map<std::string, CompressorCost> compressor_costs_from(const Node& node) {
  std::map<std::string, CompressorCost> costs;
  for (const auto& [id, cost] : node.as_map()) {
    cost.allow_keys({"compress", "decompress"});
    costs[id.as_string()] = {read_model(cost.at("compress")), read_model(cost.at("decompress"))};
  }
  return costs;
}

Profile profile_from(const Node& root) {
  const Node schema = root.at("schema");
  if (schema.as_string() != kProfileSchema) {
    schema.fail(fmt::format("schema is '{}', expected '{}'", schema.as_string(), kProfileSchema));
  }
  Profile profile;
  profile.name = root.at("name").as_string();
  profile.forward_ns = cost_number(root.at("forward_ns"));
  profile.tensors = read_tensors(root.at("tensors"));
  if (const auto node = root.find("all_reduce")) profile.all_reduce = read_collective(*node);
  if (const auto node = root.find("all_gather")) profile.all_gather = read_collective(*node);
  if (const auto node = root.find("reduce_scatter")) {
    profile.reduce_scatter = read_collective(*node);
  }
  read_compression(root, profile);
  if (const auto node = root.find("ranks")) {
    profile.ranks = static_cast<int>(node->as_integer(1, kMostRanks));
  }
  if (const auto node = root.find("grad_dtype")) profile.grad_dtype = read_dtype(*node);
  if (const auto node = root.find("accumulation")) {
    profile.accumulation = static_cast<int>(node->as_integer(1, kMostAccumulation));
  }
  if (const auto node = root.find("options")) profile.options = read_strategy_options(*node);
  if (const auto node = root.find("pack")) profile.pack = read_model(*node);
  if (const auto node = root.find("unpack")) profile.unpack = read_model(*node);
  if (const auto node = root.find("update")) profile.update = read_model(*node);
  check_elements(root, profile);
  note_unknown_keys(root, profile);
  return profile;
}

Profile load_profile(const std::filesystem::path& file) {
  return profile_from(parse_file(file, kDataLimits));
}

}  // namespace mergewise
