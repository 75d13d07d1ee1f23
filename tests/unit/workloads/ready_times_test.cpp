// SPDX-License-Identifier: Apache-2.0
// When gradients become ready: the roofline against backward passes that were measured. The traces
// are of other machines (one CPU thread, a K80), so only the shape R_i / R_L is compared.
#include "workloads/workload.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using nlohmann::json;

const std::filesystem::path kShipped = MERGEWISE_SOURCE_DIR "/configs/accelerators";
const std::filesystem::path kReference = MERGEWISE_SOURCE_DIR "/../shared/reference";

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

/// A trace with `ready_ms`: when each tensor's gradient was complete.
ReadyTimes tensor_trace(const json& trace) {
  ReadyTimes times = trace.at("ready_ms").get<ReadyTimes>();
  double last = 0;
  for (const auto& [name, time] : times) {
    last = std::max(last, time);
  }
  for (auto& [name, time] : times) {
    time /= last;
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

/// A trace with `layers`, in forward order, each with its own backward time: keyed by the weights
/// of `model`, the network that was traced. Sizes are checked: a trace's may count a bias and
/// normalisation beside the weight, each filled up to a multiple of 64.
ReadyTimes layer_trace(const json& trace, const Model& model) {
  const json& layers = trace.at("layers");
  const std::vector<TensorSpec> specs = weights(model);
  EXPECT_EQ(layers.size(), specs.size());
  ReadyTimes times;
  double ready = 0;
  for (std::size_t index = std::min(layers.size(), specs.size()); index-- > 0;) {
    const std::int64_t size = layers[index].at("parameters");
    const std::int64_t channels = (specs[index].shape.front() + 63) / 64 * 64;
    EXPECT_GE(size, specs[index].elements()) << specs[index].name;
    EXPECT_LE(size, specs[index].elements() + 3 * channels) << specs[index].name;
    ready += layers[index].at("backward_us").get<double>();
    times[specs[index].name] = ready;
  }
  for (auto& [name, time] : times) {
    time /= ready;
  }
  return times;
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

bool is_layer_trace(const json& file) {
  return file.contains("layers") && !file.at("layers").empty() &&
         file.at("layers").front().contains("backward_us");
}

std::vector<std::filesystem::path> trace_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"models", "traces"}) {
    std::error_code error;
    for (const auto& file : std::filesystem::directory_iterator(kReference / folder, error)) {
      if (file.path().extension() == ".json") {
        files.push_back(file.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// What must hold for the V100, of the networks as they were traced.
const std::map<std::string, double> kLimits{{"trace_resnet50_cpu", 0.1}, {"googlenet_k80", 0.1}};

void compare(const std::string& name, const Model& model, std::int64_t batch,
             const ReadyTimes& measured, const char* note, bool held) {
  for (const char* id : {"v100", "a100", "h100"}) {
    const Workload workload = make_workload(model, batch, load_accelerator(id, kShipped));
    const Deviation deviation = largest_deviation(measured, ready_times(workload));
    fmt::print("{:<19} {:<5} batch {:>3}  largest deviation of R_i/R_L {:>6.3f} at {}{}\n", name,
               id, batch, deviation.value, deviation.where, note);
    const auto limit = kLimits.find(name);
    if (held && id == std::string("v100") && limit != kLimits.end()) {
      EXPECT_LE(std::abs(deviation.value), limit->second) << name << " at " << deviation.where;
    }
  }
}

TEST(ReadyTimes, FollowMeasuredBackwardPasses) {
  int compared = 0;
  for (const std::filesystem::path& path : trace_files()) {
    std::ifstream stream(path);
    const json trace = json::parse(stream);
    const std::string name = path.stem().string();
    if (trace.contains("ready_ms")) {
      const Model model = build_model(trace.at("model"));
      compare(name, model, trace.at("batch_size"), tensor_trace(trace), "", true);
    } else if (is_layer_trace(trace)) {
      const Model ours = build_model(name.substr(0, name.find('_')));
      const Model traced = ours.name == "googlenet" ? caffe_googlenet(ours) : ours;
      const ReadyTimes measured = layer_trace(trace, traced);
      compare(name, traced, trace.at("batch_size"), measured, " (as traced)", true);
      if (traced.tensors.size() != ours.tensors.size()) {
        compare(name, ours, trace.at("batch_size"), measured, " (as built here)", false);
      }
    } else {
      continue;  // a model, not a trace
    }
    ++compared;
  }
  if (compared == 0) {
    GTEST_SKIP() << "no traces below " << kReference.string();
  }
}

}  // namespace
}  // namespace mergewise
