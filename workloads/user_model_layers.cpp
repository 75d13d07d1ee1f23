// SPDX-License-Identifier: Apache-2.0
#include "workloads/user_model_layers.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "workloads/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace mergewise::detail {
namespace {

// Far beyond any network, and small enough that a whole batch stays below 2^63.
constexpr std::int64_t kMaxSize = std::int64_t{1} << 31;
constexpr std::int64_t kMaxMacs = std::int64_t{1} << 50;         // of the model
constexpr std::int64_t kMaxActivations = std::int64_t{1} << 36;  // of the model, in elements
constexpr std::int64_t kFloatBytes = 4;

class LayerReader {
 public:
  explicit LayerReader(Model& model) : model_(model) {
    for (std::size_t index = 0; index < model.tensors.size(); ++index) {
      index_of_.emplace(model.tensors[index].name, index);
    }
  }

  void read(const Node& node) {
    node.allow_keys({"name", "kind", "tensors", "shared", "output", "inputs", "activations",
                     "products", "first", "macs", "parameter_bytes", "activation_bytes"});
    Layer layer;
    layer.name = name_from(node.at("name"));
    if (!names_.insert(layer.name).second) {
      node.at("name").fail("'" + layer.name + "' is a layer already, expected unique names");
    }
    layer.kind = kind_from(node.at("kind"));
    if (const auto tensors = node.find("tensors")) {
      layer.tensors = own_tensors(*tensors);
    }
    if (const auto shared = node.find("shared")) {
      layer.shared = shared_tensors(*shared);
    }
    layer.output = shape_from(node.at("output"));
    layer.inputs = node.at("inputs").as_integer(0, kMaxActivations);
    layer.activations = node.at("activations").as_integer(0, kMaxActivations);
    check_activations(node, layer);
    if (const auto products = node.find("products")) {
      read_products(*products, layer);
    }
    if (const auto first = node.find("first")) {
      layer.first = first->as_bool();
    }
    check_totals(node, layer);
    model_.layers.push_back(std::move(layer));
  }

  void check_owners(const Node& list) const {
    for (std::size_t index = 0; index < model_.tensors.size(); ++index) {
      if (owned_.count(index) == 0) {
        list.fail("tensor '" + model_.tensors[index].name +
                  "' belongs to no layer, expected each in one layer's `tensors`");
      }
    }
  }

 private:
  static LayerKind kind_from(const Node& node) {
    const std::vector<std::string>& names = layer_kind_names();
    const auto found = std::find(names.begin(), names.end(), node.as_string());
    if (found == names.end()) {
      node.fail(unknown_name("kind of layer", node.as_string(), names));
    }
    return static_cast<LayerKind>(found - names.begin());
  }

  [[nodiscard]] std::size_t tensor_from(const Node& node) const {
    const auto found = index_of_.find(node.as_string());
    if (found == index_of_.end()) {
      node.fail("'" + node.as_string() + "' is none of the file's tensors, expected one of them");
    }
    return found->second;
  }

  std::vector<std::size_t> own_tensors(const Node& list) {
    std::vector<std::size_t> own;
    for (const Node& node : list.as_list()) {
      own.push_back(tensor_from(node));
      if (!owned_.insert(own.back()).second) {
        node.fail("'" + node.as_string() +
                  "' belongs to a layer already, expected it under `shared` here");
      }
    }
    return own;
  }

  [[nodiscard]] std::vector<std::size_t> shared_tensors(const Node& list) const {
    std::vector<std::size_t> shared;
    for (const Node& node : list.as_list()) {
      shared.push_back(tensor_from(node));
      if (owned_.count(shared.back()) == 0) {
        node.fail("'" + node.as_string() + "' belongs to no earlier layer that could share it");
      }
      if (std::count(shared.begin(), shared.end(), shared.back()) > 1) {
        node.fail("'" + node.as_string() + "' is shared already, expected each tensor once");
      }
    }
    return shared;
  }

  void read_products(const Node& list, Layer& layer) {
    const bool counted = layer.kind == LayerKind::kConv || layer.kind == LayerKind::kLinear;
    for (const Node& node : list.as_list()) {
      node.allow_keys({"m", "n", "k", "count", "batch_in_count"});
      Gemm gemm;
      gemm.m = node.at("m").as_integer(1, kMaxSize);
      gemm.n = node.at("n").as_integer(1, kMaxSize);
      gemm.k = node.at("k").as_integer(1, kMaxSize);
      if (const auto count = node.find("count")) {
        gemm.count = count->as_integer(1, kMaxSize);
      }
      if (const auto in_count = node.find("batch_in_count")) {
        gemm.batch_in_count = in_count->as_bool();
      }
      if (gemm.m * gemm.n > kMaxMacs / gemm.k || gemm.m * gemm.n * gemm.k > kMaxMacs / gemm.count) {
        node.fail("the product has more than 2^50 multiply-accumulates, expected a smaller one");
      }
      macs_ += gemm.macs();
      if (macs_ > kMaxMacs) {
        node.fail(
            "the products have more than 2^50 multiply-accumulates up to here, expected fewer");
      }
      layer.macs += counted ? gemm.macs() : 0;
      layer.gemms.push_back(gemm);
    }
  }

  void check_activations(const Node& node, const Layer& layer) {
    if (layer.activations < layer.outputs()) {
      node.at("activations")
          .fail(fmt::format("'{}' is less than the {} elements that the layer puts out, expected "
                            "all that it reads and writes",
                            node.at("activations").text(), layer.outputs()));
    }
    activations_ += layer.inputs + layer.activations;
    if (activations_ > kMaxActivations) {
      node.fail("the layers move more than 2^36 activations up to here, expected fewer");
    }
  }

  // What follows from the other fields may be told, for people, but must be true.
  void check_totals(const Node& node, const Layer& layer) const {
    const std::vector<std::pair<const char*, std::int64_t>> totals{
        {"macs", layer.macs},
        {"parameter_bytes", kFloatBytes * model_.parameters(layer)},
        {"activation_bytes", kFloatBytes * layer.outputs()}};
    for (const auto& [key, value] : totals) {
      const auto stated = node.find(key);
      if (stated && stated->as_integer() != value) {
        stated->fail(fmt::format("'{}' is no {} of layer '{}', expected {} by its other fields",
                                 stated->text(), key, layer.name, value));
      }
    }
  }

  Model& model_;
  std::map<std::string, std::size_t> index_of_;
  std::set<std::size_t> owned_;
  std::set<std::string> names_;
  std::int64_t macs_ = 0;         // of the layers so far, of all products
  std::int64_t activations_ = 0;  // read and moved by the layers so far
};

}  // namespace

void read_layers(const Node& list, Model& model) {
  LayerReader reader(model);
  for (const Node& node : list.as_list()) {
    reader.read(node);
  }
  reader.check_owners(list);
}

}  // namespace mergewise::detail
