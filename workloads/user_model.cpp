// SPDX-License-Identifier: Apache-2.0
// Reads a user's own model: a list of tensors with backward times.
#include "bench/config/node.hpp"
#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "workloads/backward_layers.hpp"
#include "workloads/model_file.hpp"
#include "workloads/user_model_layers.hpp"
#include "workloads/workload.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

namespace mergewise {
namespace {

constexpr const char* kSchema = "mergewise/model/1";
constexpr double kForwardTolerance = 1e-3;  // for times that were rounded

/// "layer1.conv2.weight" belongs to "layer1.conv2"; a name without a dot is its own layer.
std::string layer_of(const std::string& tensor) {
  const std::size_t dot = tensor.rfind('.');
  return dot == std::string::npos || dot == 0 ? tensor : tensor.substr(0, dot);
}

WorkloadTensor tensor_from(const Node& node) {
  node.allow_keys({"name", "shape", "bytes", "backward_ns", "backward_us", "backward_ms",
                   "forward_ns", "forward_us", "forward_ms", "layer"});
  WorkloadTensor tensor;
  tensor.name = detail::name_from(node.at("name"));
  const auto layer = node.find("layer");
  tensor.layer = layer ? detail::name_from(*layer) : layer_of(tensor.name);
  const auto shape = node.find("shape");
  const auto bytes = node.find("bytes");
  if (shape.has_value() == bytes.has_value()) {
    node.fail("tensor '" + tensor.name + "' needs either shape or bytes, expected exactly one");
  }
  if (shape) {
    tensor.shape = detail::shape_from(*shape);
  } else {
    const Bytes size = bytes->as_integer(0, 4 * detail::kMaxElements);
    if (size % 4 != 0) {
      bytes->fail("'" + bytes->text() +
                  "' bytes are no multiple of 4, expected whole fp32 elements");
    }
    tensor.shape = {size / 4};
  }
  tensor.bytes = 4 * TensorSpec{tensor.name, tensor.shape}.elements();
  tensor.backward_ns = detail::time_from(node, "backward");
  return tensor;
}

// Each time is bounded; their sum must be too.
void check_passes(const Node& root, const Workload& workload) {
  if (workload.forward_ns > detail::kMaxTime || workload.backward_ns() > detail::kMaxTime) {
    root.fail("the tensors' times add up to more than 10^15 ns a pass, expected less");
  }
}

/// Each tensor's part of the forward pass: as the file says, or if it does not, as the backward
/// pass is divided, evenly if that takes no time.
void divide_forward(const Node& root, const std::vector<Node>& nodes, Workload& workload) {
  const Nanoseconds total = detail::time_from(root, "forward");
  Nanoseconds forward = 0;
  std::size_t given = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (const auto time = detail::find_time(nodes[i], "forward")) {
      workload.tensors[i].forward_ns = *time;
      forward += *time;
      ++given;
    } else if (given > 0) {
      nodes[i].fail("tensor '" + workload.tensors[i].name +
                    "' has no forward time, expected one of all tensors or of none");
    }
  }
  if (given > 0) {
    if (given < nodes.size()) {
      nodes.front().fail("tensor '" + workload.tensors.front().name +
                         "' has no forward time, expected one of all tensors or of none");
    }
    if (std::abs(forward - total) > kForwardTolerance * total) {
      root.fail(
          fmt::format("the tensors' forward times add up to {} ns, expected the whole pass's {} ns",
                      forward, total));
    }
    workload.forward_ns = forward;
    return;
  }
  const Nanoseconds backward = workload.backward_ns();
  const auto count = static_cast<double>(workload.tensors.size());
  for (WorkloadTensor& tensor : workload.tensors) {
    tensor.forward_ns = total * (backward > 0 ? tensor.backward_ns / backward : 1 / count);
    workload.forward_ns += tensor.forward_ns;
  }
}

TimesKind times_kind_from(const Node& node) {
  std::vector<std::string> names;
  for (const TimesKind kind : {TimesKind::kMeasured, TimesKind::kModelled, TimesKind::kGiven}) {
    names.emplace_back(name_of(kind));
    if (node.as_string() == names.back()) {
      return kind;
    }
  }
  node.fail(unknown_name("kind of times", node.as_string(), names));
}

void read_head(const Node& root, const std::filesystem::path& file, Workload& workload) {
  root.allow_keys({"schema", "name", "batch", "times", "source", "forward_ns", "forward_us",
                   "forward_ms", "tensors", "input_shape", "layers"});
  const Node schema = root.at("schema");
  if (schema.as_string() != kSchema) {
    schema.fail("'" + schema.as_string() + "' is no known schema, expected " + kSchema);
  }
  workload.name = detail::name_from(root.at("name"));
  if (const auto batch = root.find("batch")) {
    workload.batch = batch->as_integer(1, kMaxBatch);
  }
  if (const auto times = root.find("times")) {
    workload.times = times_kind_from(*times);
  }
  const auto source = root.find("source");
  workload.times_from = source ? detail::name_from(*source) : "file " + file.string();
}

void read_tensors(const std::vector<Node>& nodes, Workload& workload) {
  std::map<std::string, std::string> seen;  // name -> where
  Bytes total = 0;
  for (const Node& node : nodes) {
    WorkloadTensor tensor = tensor_from(node);
    const auto [earlier, is_new] = seen.emplace(tensor.name, node.where());
    if (!is_new) {
      node.at("name").fail("'" + tensor.name + "' is a tensor already (" + earlier->second +
                           "), expected unique names");
    }
    total += tensor.bytes;
    if (total > detail::kMaxTotalBytes) {
      node.fail("the tensors exceed 2^50 bytes here, expected a smaller model");
    }
    workload.tensors.push_back(std::move(tensor));
  }
}

/// The tensors as a model: the file knows no other order of them than the ready order.
Model model_of(const Workload& workload) {
  Model model;
  model.name = workload.name;
  for (const WorkloadTensor& tensor : workload.tensors) {
    model.ready_order.push_back(model.tensors.size());
    model.tensors.push_back({tensor.name, tensor.shape});
  }
  return model;
}

}  // namespace

UserModel load_user_model(const std::filesystem::path& file) {
  const Node root = parse_file(file, kDataLimits);
  UserModel user_model;
  Workload& workload = user_model.workload;
  read_head(root, file, workload);
  const Node tensors = root.at("tensors");
  if (tensors.as_list().empty()) {
    tensors.fail("the model has no tensors, expected at least one");
  }
  read_tensors(tensors.as_list(), workload);
  divide_forward(root, tensors.as_list(), workload);
  check_passes(root, workload);
  user_model.model = model_of(workload);
  if (const auto layers = root.find("layers")) {
    user_model.model.input_shape = detail::shape_from(root.at("input_shape"));
    detail::read_layers(*layers, user_model.model);
    workload.layers = layer_work(user_model.model, workload.batch);
    workload.backward_layers = assign_backward_layers(user_model.model);
  } else if (const auto shape = root.find("input_shape")) {
    shape->fail("an input shape without layers, expected both or neither");
  }
  return user_model;
}

}  // namespace mergewise
