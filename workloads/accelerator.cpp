// SPDX-License-Identifier: Apache-2.0
// Reads accelerator descriptions (configs/accelerators/*.yaml).
#include "bench/config/node.hpp"
#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "workloads/workload.hpp"

#include <algorithm>
#include <system_error>

namespace mergewise {
namespace {

constexpr const char* kSchema = "mergewise/accelerator/1";
constexpr double kMaxRate = 1e21;  // per second, of anything
constexpr double kMinFraction = 1e-3;

std::string one_of(const Node& node, const char* kind, const std::vector<std::string>& choices) {
  std::string word = node.as_string();
  if (std::find(choices.begin(), choices.end(), word) == choices.end()) {
    node.fail(unknown_name(kind, word, choices));
  }
  return word;
}

PublishedThroughput published_from(const Node& node) {
  node.allow_keys({"model", "samples_per_s", "image_size", "sequence_length"});
  PublishedThroughput published;
  published.model = one_of(node.at("model"), "model", model_ids());
  published.samples_per_s = node.at("samples_per_s").as_number(1e-6, kMaxRate);
  if (const auto size = node.find("image_size")) {
    published.arguments.image_size = size->as_integer(1);
  }
  if (const auto length = node.find("sequence_length")) {
    published.arguments.sequence_length = length->as_integer(1);
  }
  try {
    static_cast<void>(build_model(published.model, published.arguments));
  } catch (const InputError& error) {
    node.fail(error.what());
  }
  return published;
}

Accelerator accelerator_from(const Node& root, const std::string& expected_name) {
  root.allow_keys({"schema", "name", "description", "arithmetic", "peak_flops", "flops_fraction",
                   "memory_bytes_per_s", "bandwidth_fraction", "layer_overhead_ns", "throughput"});
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
  if (const auto overhead = root.find("layer_overhead_ns")) {
    accelerator.layer_overhead_ns = overhead->as_number(0, 1e9);
  }
  if (const auto throughput = root.find("throughput")) {
    for (const Node& entry : throughput->as_list()) {
      PublishedThroughput published = published_from(entry);
      for (const PublishedThroughput& earlier : accelerator.throughput) {
        if (earlier.model == published.model) {
          entry.at("model").fail("'" + published.model +
                                 "' has a throughput already, expected one entry a model");
        }
      }
      accelerator.throughput.push_back(std::move(published));
    }
  }
  return accelerator;
}

}  // namespace

std::vector<std::string> accelerator_ids(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::string> ids;
  std::filesystem::directory_iterator files(folder, error);
  if (error) {
    throw InputError(folder.string() + ": cannot list the accelerators (" + error.message() +
                     "), expected a folder of YAML files");
  }
  for (const auto& file : files) {
    if (file.path().extension() == ".yaml") {
      ids.push_back(file.path().stem().string());
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Accelerator load_accelerator(const std::string& id, const std::filesystem::path& folder) {
  std::filesystem::path file = id;
  if (file.extension() != ".yaml") {
    const std::vector<std::string> ids = accelerator_ids(folder);
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
      throw InputError(unknown_name("accelerator", id, ids));
    }
    file = folder / (id + ".yaml");
  }
  return accelerator_from(parse_file(file, kConfigLimits), file.stem().string());
}

}  // namespace mergewise
