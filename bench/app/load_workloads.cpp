// SPDX-License-Identifier: Apache-2.0
#include "bench/app/load_workloads.hpp"

#include "bench/app/data_folder.hpp"
#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <numeric>

namespace mergewise {
namespace {

LoadedWorkload from_profile(const std::filesystem::path& file) {
  const Profile profile = load_profile(file);
  LoadedWorkload loaded;
  loaded.all_reduce = profile.all_reduce;
  Workload& workload = loaded.workload;
  workload.name = profile.name;
  workload.times_from = "profile " + file.filename().string();
  workload.forward_ns = profile.forward_ns;
  for (const ProfileTensor& tensor : profile.tensors) {
    if (tensor.bytes % 4 != 0) {
      throw InputError(fmt::format(
          "{}: tensor '{}' has {} bytes, but gradients are replayed as fp32: expected a multiple "
          "of 4",
          file.string(), tensor.name, tensor.bytes));
    }
    workload.tensors.push_back({tensor.name, tensor.layer, tensor.shape, tensor.bytes,
                                tensor.forward_ns.value_or(0), tensor.backward_ns});
  }
  return loaded;
}

LoadedWorkload load(const WorkloadConfig& config, const std::string& accelerator) {
  if (!config.file.empty()) return {load_user_model(config.file).workload, std::nullopt};
  if (!config.profile.empty()) return from_profile(config.profile);
  const Model model = build_model(config.model, {config.image_size, config.sequence_length});
  return {make_workload(model, config.batch, load_accelerator(accelerator, accelerators_folder())),
          std::nullopt};
}

}  // namespace

std::vector<Bytes> LoadedWorkload::tensor_bytes() const {
  std::vector<Bytes> bytes;
  for (const WorkloadTensor& tensor : workload.tensors) bytes.push_back(tensor.bytes);
  return bytes;
}

Bytes LoadedWorkload::total_bytes() const {
  const auto bytes = tensor_bytes();
  return std::accumulate(bytes.begin(), bytes.end(), Bytes{0});
}

std::vector<LoadedWorkload> load_workloads(const RunConfig& config) {
  std::vector<LoadedWorkload> workloads;
  for (const WorkloadConfig& workload : config.workloads) {
    workloads.push_back(load(workload, config.compute.accelerator));
    if (config.compute.mode == "gemm" && workloads.back().workload.layers.empty()) {
      throw InputError(
          fmt::format("{}: `compute: {{mode: gemm}}` needs the shapes of a built-in network, but "
                      "workload '{}' has only times: use `mode: timed`",
                      config.source.string(), workloads.back().workload.name));
    }
  }
  return workloads;
}

}  // namespace mergewise
