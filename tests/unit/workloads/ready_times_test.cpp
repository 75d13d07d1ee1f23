// SPDX-License-Identifier: Apache-2.0
// When gradients become ready: the roofline against backward passes that were measured. The traces
// are of other machines (one CPU thread, a K80), so only the shape R_i / R_L is compared.
#include "tests/support/reference.hpp"
#include "workloads/timings.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {
namespace {

const std::filesystem::path kShipped = MERGEWISE_SOURCE_DIR "/configs/accelerators";

/// Fraction of the backward pass after which something is ready, by its name.
using ReadyTimes = std::map<std::string, double>;

struct Deviation {
  double value = 0;  ///< measured - modelled, the largest in size
  std::string where;
};

Deviation largest_deviation(const ReadyTimes& measured, const ReadyTimes& modelled) {
  Deviation largest;
  for (const auto& [name, fraction] : measured) {
    const auto found = modelled.find(name);
    EXPECT_NE(found, modelled.end()) << name;
    if (found != modelled.end() && std::abs(fraction - found->second) > std::abs(largest.value)) {
      largest = {fraction - found->second, name};
    }
  }
  return largest;
}

ReadyTimes ready_times(const Workload& workload) {
  ReadyTimes times;
  Nanoseconds ready = 0;
  for (const WorkloadTensor& tensor : workload.tensors) {
    ready += tensor.backward_ns;
    times[tensor.name] = ready;
  }
  for (auto& [name, time] : times) {
    time /= ready;
  }
  return times;
}

/// The weights of a model's convolutions and linear layers, in forward order.
std::vector<TensorSpec> weights(const Model& model) {
  std::vector<TensorSpec> specs;
  for (const Layer& layer : model.layers) {
    if (layer.kind == LayerKind::kConv || layer.kind == LayerKind::kLinear) {
      specs.push_back(model.tensors[layer.tensors.front()]);
    }
  }
  return specs;
}

/// Names a trace's entries, a layer each, after the weights of `model`, the network that was
/// traced. Sizes are checked: a trace's may count a bias and normalisation beside the weight, each
/// filled up to a multiple of 64.
Workload named_after(const Model& model, Workload trace) {
  const std::vector<TensorSpec> specs = weights(model);
  EXPECT_EQ(trace.tensors.size(), specs.size());
  for (std::size_t ready = 0; ready < std::min(trace.tensors.size(), specs.size()); ++ready) {
    WorkloadTensor& tensor = trace.tensors[ready];
    const TensorSpec& spec = specs[specs.size() - 1 - ready];
    const std::int64_t channels = (spec.shape.front() + 63) / 64 * 64;
    EXPECT_GE(tensor.shape.front(), spec.elements()) << spec.name;
    EXPECT_LE(tensor.shape.front(), spec.elements() + 3 * channels) << spec.name;
    tensor.name = spec.name;
  }
  return trace;
}

/// torchvision's GoogLeNet as Caffe has it, and as it was traced: 5x5 convolutions where
/// torchvision has 3x3, and no batch normalisation.
Model caffe_googlenet(Model model) {
  std::vector<std::size_t> new_index(model.tensors.size(), model.tensors.size());
  std::vector<TensorSpec> tensors;
  std::vector<Layer> layers;
  for (Layer& layer : model.layers) {
    if (layer.kind == LayerKind::kNorm) {
      continue;
    }
    if (layer.name.ends_with("branch3.1.conv")) {
      TensorSpec& weight = model.tensors[layer.tensors.front()];
      weight.shape[2] = weight.shape[3] = 5;
      layer.gemms.front().k = weight.shape[1] * 25;
      layer.macs = layer.gemms.front().macs();
    }
    for (std::size_t& tensor : layer.tensors) {
      new_index[tensor] = tensors.size();
      tensors.push_back(model.tensors[tensor]);
      tensor = new_index[tensor];
    }
    layers.push_back(layer);
  }
  std::vector<std::size_t> ready_order;
  for (const std::size_t tensor : model.ready_order) {
    if (new_index[tensor] < tensors.size()) {
      ready_order.push_back(new_index[tensor]);
    }
  }
  model.tensors = std::move(tensors);
  model.layers = std::move(layers);
  model.ready_order = std::move(ready_order);
  return model;
}

/// Prints the deviation of each device's roofline, and holds it to `limit` where there is one.
void compare(const Workload& measured, const Model& model, const std::string& note,
             std::optional<double> limit) {
  for (const std::string& id : accelerator_ids(kShipped)) {
    const Workload modelled = make_workload(model, measured.batch, load_accelerator(id, kShipped));
    const Deviation deviation = largest_deviation(ready_times(measured), ready_times(modelled));
    const std::string line =
        fmt::format("{:<19} {:<5} batch {:>3}  largest deviation of R_i/R_L {:>6.3f} at {}{}",
                    measured.name, id, measured.batch, deviation.value, deviation.where, note);
    fmt::print("{}\n", line);
    if (limit) {
      EXPECT_LE(std::abs(deviation.value), *limit) << line;
    }
  }
}

constexpr double kLimit = 0.1;

TEST(ReadyTimes, FollowAResNet50OnACpu) {
  const auto path = test::reference_file("models/trace_resnet50_cpu.json");
  if (!test::lacking(path).empty()) GTEST_SKIP() << test::lacking(path);
  compare(import_timings(path).user_model.workload, build_model("resnet50"), "", kLimit);
}

TEST(ReadyTimes, FollowAGoogLeNetOnAK80) {
  const auto path = test::reference_file("traces/googlenet_k80.json");
  if (!test::lacking(path).empty()) GTEST_SKIP() << test::lacking(path);
  const Model ours = build_model("googlenet");
  const Model traced = caffe_googlenet(ours);
  const Workload named = named_after(traced, import_timings(path).user_model.workload);
  compare(named, traced, " (as traced)", kLimit);
  compare(named, ours, " (as built here)", std::nullopt);  // another network: told, not held
}

}  // namespace
}  // namespace mergewise
