// SPDX-License-Identifier: Apache-2.0
// Reads accelerator descriptions (configs/accelerators/*.yaml).
#include "bench/config/choices.hpp"
#include "bench/core/error.hpp"
#include "workloads/roofline.hpp"

#include <algorithm>

namespace mergewise {
namespace {

constexpr const char* kSchema = "mergewise/accelerator/1";
constexpr double kMaxRate = 1e21;  // per second, of anything
constexpr double kMinFraction = 1e-3;
// Winograd's F(4x4, 3x3), the fastest in use, multiplies four times less than the direct way.
constexpr double kMaxSquareFraction = 4;
constexpr double kMaxUpdatePasses = 1000;

/// Whether a kind of layer has products, and so a part of the peak that it achieves.
bool has_products(const std::string& kind) {
  return kind == name_of(LayerKind::kConv) || kind == kSquareConvolution ||
         kind == name_of(LayerKind::kLinear) || kind == name_of(LayerKind::kAttention);
}

/// `achieved` of the file; what an entry does not say is that of all convolutions for
/// "conv_square", else the accelerator's own.
void read_achieved(const Node& node, Accelerator& accelerator) {
  node.allow_keys(achieved_kind_names());
  for (const std::string& kind : achieved_kind_names()) {
    const auto entry = node.find(kind);
    if (!entry) {
      continue;
    }
    AchievedFractions achieved{accelerator.flops_fraction, accelerator.bandwidth_fraction};
    const auto conv = accelerator.achieved.find(name_of(LayerKind::kConv));
    if (kind == kSquareConvolution && conv != accelerator.achieved.end()) {
      achieved = conv->second;
    }
    if (has_products(kind)) {
      entry->allow_keys({"flops", "bandwidth"});
      if (const auto flops = entry->find("flops")) {
        achieved.flops =
            flops->as_number(kMinFraction, kind == kSquareConvolution ? kMaxSquareFraction : 1);
      }
    } else {
      entry->allow_keys({"bandwidth"});
    }
    if (const auto bandwidth = entry->find("bandwidth")) {
      achieved.bandwidth = bandwidth->as_number(kMinFraction, 1);
    }
    accelerator.achieved[kind] = achieved;
  }
}

bool takes_part(const Model& model, const std::string& prefix) {
  return std::any_of(model.layers.begin(), model.layers.end(),
                     [&](const Layer& layer) { return layer.name.starts_with(prefix); });
}

PublishedThroughput published_from(const Node& node, const Accelerator& accelerator) {
  node.allow_keys({"model", "samples_per_s", "batch", "image_size", "sequence_length", "without",
                   "compare_only", "update_passes", "source"});
  PublishedThroughput published;
  published.model = one_of(node.at("model"), "model", model_ids());
  published.samples_per_s = node.at("samples_per_s").as_number(1e-6, kMaxRate);
  if (const auto batch = node.find("batch")) {
    published.batch = batch->as_integer(1, kMaxBatch);
  }
  if (const auto size = node.find("image_size")) {
    published.arguments.image_size = size->as_integer(1);
  }
  if (const auto length = node.find("sequence_length")) {
    published.arguments.sequence_length = length->as_integer(1);
  }
  if (const auto passes = node.find("update_passes")) {
    published.update_passes = passes->as_number(0, kMaxUpdatePasses);
  }
  if (const auto compare_only = node.find("compare_only")) {
    published.compare_only = compare_only->as_bool();
  }
  if (const auto source = node.find("source")) {
    published.source = source->as_string();
  }
  Model model;
  try {
    model = build_model(published.model, published.arguments);
  } catch (const InputError& error) {
    node.fail(error.what());
  }
  if (const auto without = node.find("without")) {
    published.without = without->as_string();
    if (!takes_part(model, published.without)) {
      without->fail("no layer of '" + published.model + "' begins with '" + published.without +
                    "', expected the beginning of the names of layers to leave out");
    }
  }
  if (update_time(published, model, accelerator) >=
      1e9 * static_cast<double>(published.batch) / published.samples_per_s) {
    node.at("update_passes")
        .fail("the update alone would take the whole iteration, expected fewer passes");
  }
  return published;
}

/// Two trainings of one model must differ in what was trained.
bool same_training(const PublishedThroughput& one, const PublishedThroughput& other) {
  return one.model == other.model && one.batch == other.batch &&
         one.arguments.image_size == other.arguments.image_size &&
         one.arguments.sequence_length == other.arguments.sequence_length &&
         one.without == other.without;
}

Accelerator accelerator_from(const Node& root, const std::string& expected_name) {
  root.allow_keys({"schema", "name", "description", "arithmetic", "peak_flops", "flops_fraction",
                   "memory_bytes_per_s", "bandwidth_fraction", "achieved", "layer_overhead_ns",
                   "throughput"});
  static_cast<void>(one_of(root.at("schema"), "schema", {kSchema}));
  Accelerator accelerator;
  // One id everywhere: results name the accelerator, so the name must lead back to the file.
  accelerator.name = one_of(root.at("name"), "accelerator name", {expected_name});
  if (const auto description = root.find("description")) {
    accelerator.description = description->as_string();
  }
  accelerator.arithmetic = one_of(root.at("arithmetic"), "arithmetic", {"fp32", "tf32"});
  accelerator.peak_flops = root.at("peak_flops").as_number(1, kMaxRate);
  accelerator.flops_fraction = root.at("flops_fraction").as_number(kMinFraction, 1);
  accelerator.memory_bytes_per_s = root.at("memory_bytes_per_s").as_number(1, kMaxRate);
  accelerator.bandwidth_fraction = root.at("bandwidth_fraction").as_number(kMinFraction, 1);
  if (const auto achieved = root.find("achieved")) {
    read_achieved(*achieved, accelerator);
  }
  if (const auto overhead = root.find("layer_overhead_ns")) {
    accelerator.layer_overhead_ns = overhead->as_number(0, 1e9);
  }
  if (const auto throughput = root.find("throughput")) {
    for (const Node& entry : throughput->as_list()) {
      PublishedThroughput published = published_from(entry, accelerator);
      for (const PublishedThroughput& earlier : accelerator.throughput) {
        if (same_training(earlier, published)) {
          entry.at("model").fail("'" + published.model +
                                 "' has a throughput for this input and batch already, expected "
                                 "one entry for each");
        }
      }
      accelerator.throughput.push_back(std::move(published));
    }
  }
  return accelerator;
}

}  // namespace

const std::vector<std::string>& achieved_kind_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = layer_kind_names();
    const auto conv = std::find(names.begin(), names.end(), name_of(LayerKind::kConv));
    names.insert(conv + 1, kSquareConvolution);
    return names;
  }();
  return kNames;
}

std::vector<std::string> accelerator_ids(const std::filesystem::path& folder) {
  return yaml_ids(folder, "accelerator");
}

Accelerator load_accelerator(const std::string& id, const std::filesystem::path& folder) {
  const std::filesystem::path file = yaml_file(id, folder, "accelerator");
  return accelerator_from(parse_file(file, kConfigLimits), file.stem().string());
}

}  // namespace mergewise
