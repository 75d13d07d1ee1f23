// SPDX-License-Identifier: Apache-2.0
// Reads a user's own model: a list of tensors with backward times.
#include "bench/config/node.hpp"
#include "bench/core/error.hpp"
#include "workloads/workload.hpp"

#include <array>
#include <map>
#include <utility>

namespace mergewise {
namespace {

constexpr const char* kSchema = "mergewise/model/1";
constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;
constexpr Bytes kMaxTotalBytes = Bytes{1} << 50;
constexpr Nanoseconds kMaxTime = 1e15;

struct Unit {
  const char* suffix;
  double nanoseconds;
};
constexpr std::array<Unit, 3> kUnits{{{"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}}};

/// The one of KEY_ns, KEY_us, KEY_ms that is there.
Nanoseconds time_from(const Node& node, const std::string& key) {
  std::optional<Nanoseconds> time;
  for (const Unit& unit : kUnits) {
    if (const auto value = node.find(key + unit.suffix)) {
      if (time) {
        value->fail("a second " + key + " time, expected one of " + key + "_ns, " + key + "_us, " +
                    key + "_ms");
      }
      time = value->as_number(0, kMaxTime / unit.nanoseconds) * unit.nanoseconds;
    }
  }
  if (!time) {
    node.fail("missing " + key + "_ns (or " + key + "_us, " + key + "_ms)");
  }
  return *time;
}

std::vector<std::int64_t> shape_from(const Node& node) {
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const Node& size : node.as_list()) {
    shape.push_back(size.as_integer(0, kMaxElements));
    if (shape.back() > 0 && elements > kMaxElements / shape.back()) {
      size.fail("the tensor has more than 2^40 elements, expected a smaller shape");
    }
    elements *= shape.back();
  }
  return shape;
}

/// "layer1.conv2.weight" belongs to "layer1.conv2"; a name without a dot is its own layer.
std::string layer_of(const std::string& tensor) {
  const std::size_t dot = tensor.rfind('.');
  return dot == std::string::npos || dot == 0 ? tensor : tensor.substr(0, dot);
}

std::string name_from(const Node& node) {
  std::string name = node.as_string();
  if (name.empty()) {
    node.fail("'' is empty, expected a name");
  }
  return name;
}

WorkloadTensor tensor_from(const Node& node) {
  node.allow_keys({"name", "shape", "bytes", "backward_ns", "backward_us", "backward_ms", "layer"});
  WorkloadTensor tensor;
  tensor.name = name_from(node.at("name"));
  const auto layer = node.find("layer");
  tensor.layer = layer ? name_from(*layer) : layer_of(tensor.name);
  const auto shape = node.find("shape");
  const auto bytes = node.find("bytes");
  if (shape.has_value() == bytes.has_value()) {
    node.fail("tensor '" + tensor.name + "' needs either shape or bytes, expected exactly one");
  }
  if (shape) {
    tensor.shape = shape_from(*shape);
  } else {
    const Bytes size = bytes->as_integer(0, 4 * kMaxElements);
    if (size % 4 != 0) {
      bytes->fail("'" + bytes->text() +
                  "' bytes are no multiple of 4, expected whole fp32 elements");
    }
    tensor.shape = {size / 4};
  }
  tensor.bytes = 4 * TensorSpec{tensor.name, tensor.shape}.elements();
  tensor.backward_ns = time_from(node, "backward");
  return tensor;
}

/// Nobody says which layer takes which part of the forward pass: as the backward pass is divided,
/// or evenly if that takes no time.
void divide_forward(Nanoseconds total, Workload& workload) {
  Nanoseconds backward = 0;
  for (const WorkloadTensor& tensor : workload.tensors) {
    backward += tensor.backward_ns;
  }
  const auto count = static_cast<double>(workload.tensors.size());
  workload.forward_ns = 0;
  for (WorkloadTensor& tensor : workload.tensors) {
    tensor.forward_ns = total * (backward > 0 ? tensor.backward_ns / backward : 1 / count);
    workload.forward_ns += tensor.forward_ns;
  }
}

}  // namespace

UserModel load_user_model(const std::filesystem::path& file) {
  const Node root = parse_file(file, kDataLimits);
  root.allow_keys({"schema", "name", "batch", "forward_ns", "forward_us", "forward_ms", "tensors"});
  const Node schema = root.at("schema");
  if (schema.as_string() != kSchema) {
    schema.fail("'" + schema.as_string() + "' is no known schema, expected " + kSchema);
  }
  UserModel user_model;
  Workload& workload = user_model.workload;
  workload.name = name_from(root.at("name"));
  if (const auto batch = root.find("batch")) {
    workload.batch = batch->as_integer(1, std::int64_t{1} << 30);
  }
  workload.times_from = "file " + file.string();
  const Node tensors = root.at("tensors");
  std::map<std::string, std::string> seen;  // name -> where
  Bytes total = 0;
  for (const Node& node : tensors.as_list()) {
    WorkloadTensor tensor = tensor_from(node);
    const auto [earlier, is_new] = seen.emplace(tensor.name, node.where());
    if (!is_new) {
      node.at("name").fail("'" + tensor.name + "' is a tensor already (" + earlier->second +
                           "), expected unique names");
    }
    total += tensor.bytes;
    if (total > kMaxTotalBytes) {
      node.fail("the tensors exceed 2^50 bytes here, expected a smaller model");
    }
    workload.tensors.push_back(std::move(tensor));
  }
  if (workload.tensors.empty()) {
    tensors.fail("the model has no tensors, expected at least one");
  }
  divide_forward(time_from(root, "forward"), workload);
  return user_model;
}

}  // namespace mergewise
