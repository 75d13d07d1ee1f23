// SPDX-License-Identifier: Apache-2.0
#include "bench/app/load_workloads.hpp"

#include "bench/app/data_folder.hpp"
#include "bench/core/error.hpp"
#include "bench/plan/time_model.hpp"
#include "bench/strategies/registry.hpp"

#include <fmt/format.h>

#include <numeric>

namespace mergewise {
namespace {

LoadedWorkload from_profile(const std::filesystem::path& file) {
  const Profile profile = load_profile(file);
  const TimeModel times(profile);
  LoadedWorkload loaded;
  loaded.costs = {profile.all_reduce, profile.all_gather, profile.reduce_scatter};
  loaded.compressors = profile.compressors;
  loaded.accumulation = profile.accumulation;
  loaded.grad_dtype = profile.grad_dtype;
  Workload& workload = loaded.workload;
  workload.name = profile.name;
  workload.times_from = "profile " + file.filename().string();
  workload.forward_ns = profile.forward_ns;
  for (std::size_t i = 0; i < profile.tensors.size(); ++i) {
    const ProfileTensor& tensor = profile.tensors[i];
    if (tensor.bytes % 4 != 0) {
      throw InputError(fmt::format(
          "{}: tensor '{}' has {} bytes, but gradients are replayed as fp32: expected a multiple "
          "of 4",
          file.string(), tensor.name, tensor.bytes));
    }
    workload.tensors.push_back({tensor.name, tensor.layer, tensor.shape, tensor.bytes,
                                times.forward(i), tensor.backward_ns});
  }
  return loaded;
}

// Before anything starts: what can only be seen in the model.
void check_replayable(const RunConfig& config) {
  for (const ChoiceConfig& choice : config.strategies) {
    if (make_strategy(choice.id)->replayable()) continue;
    throw InputError(fmt::format(
        "{}: plans of strategy '{}' cannot be replayed: leave it out, and see them in the model "
        "with `mergewise simulate`",
        config.source.string(), choice.id));
  }
}

// What is measured here is not mixed with what a profile says.
void check_compressors(const RunConfig& config, const LoadedWorkload& loaded) {
  if (!loaded.costs.all_reduce) return;
  for (const ChoiceConfig& choice : config.compressors) {
    if (choice.id == "none" || loaded.compressors.contains(choice.id)) continue;
    throw InputError(fmt::format(
        "{}: the profile of workload '{}' has no costs of compressor '{}': measure them with "
        "`mergewise calibrate --compressor {}`, or leave the compressor out",
        config.source.string(), loaded.workload.name, choice.id, choice.id));
  }
}

// A profile says what its iterations are; a run replays what the config says.
void check_iteration(const RunConfig& config, const LoadedWorkload& loaded) {
  if (loaded.grad_dtype != DType::kFloat32) {
    throw InputError(fmt::format(
        "{}: the gradients of workload '{}' are {}, but only fp32 can be replayed yet: see it in "
        "the model with `mergewise simulate`",
        config.source.string(), loaded.workload.name, name_of(loaded.grad_dtype)));
  }
  if (loaded.accumulation.value_or(config.accumulation) != config.accumulation) {
    throw InputError(fmt::format(
        "{0}: the profile of workload '{1}' has {2} micro-batches an iteration, the config {3}: "
        "set `accumulation: {2}`, or change the profile",
        config.source.string(), loaded.workload.name, *loaded.accumulation, config.accumulation));
  }
}

void check_real_work(const RunConfig& config, const Workload& workload) {
  if (config.compute.mode == "gemm" && workload.layers.empty()) {
    throw InputError(fmt::format(
        "{}: `compute: {{mode: gemm}}` needs the shapes of a network's layers, but workload "
        "'{}' has only times: use `mode: timed`",
        config.source.string(), workload.name));
  }
}

// Held time cannot be cut short, so a budget could not end it in time.
void check_budget(const RunConfig& config, const Workload& workload) {
  const Nanoseconds iteration =
      config.accumulation * (workload.forward_ns + workload.backward_ns());
  if (config.compute.mode == "timed" && config.budget_ns > 0 && iteration > config.budget_ns) {
    throw InputError(
        fmt::format("{}: one iteration of workload '{}' takes {}, more than the budget of {}: "
                    "raise `budget`, or "
                    "check the units of its times",
                    config.source.string(), workload.name, human_time(iteration),
                    human_time(config.budget_ns)));
  }
}

void check_distinct(const RunConfig& config, const std::vector<LoadedWorkload>& workloads) {
  for (std::size_t later = 1; later < workloads.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const Workload& first = workloads[earlier].workload;
      const Workload& second = workloads[later].workload;
      if (first.name == second.name && first.batch == second.batch) {
        throw InputError(
            fmt::format("{}: workloads {} and {} are both '{}' with batch {}, expected each once: "
                        "leave one out, or change the `name` in its file",
                        config.source.string(), earlier + 1, later + 1, first.name, first.batch));
      }
    }
  }
}

}  // namespace

LoadedWorkload load_workload(const WorkloadConfig& config, const std::string& accelerator) {
  if (!config.file.empty()) return {load_user_model(config.file).workload, {}};
  if (!config.profile.empty()) return from_profile(config.profile);
  const Model model = build_model(config.model, {config.image_size, config.sequence_length});
  LoadedWorkload loaded{
      make_workload(model, config.batch, load_accelerator(accelerator, accelerators_folder())), {}};
  // Results tell workloads apart by name and batch.
  if (config.image_size != 0) {
    loaded.workload.name += fmt::format(" at {0} x {0} pixels", config.image_size);
  } else if (config.sequence_length != 0) {
    loaded.workload.name += fmt::format(" at length {}", config.sequence_length);
  }
  return loaded;
}

std::vector<Bytes> LoadedWorkload::tensor_bytes() const {
  std::vector<Bytes> bytes;
  for (const WorkloadTensor& tensor : workload.tensors) bytes.push_back(tensor.bytes);
  return bytes;
}

std::vector<bool> LoadedWorkload::vectors() const {
  std::vector<bool> vectors;
  for (const WorkloadTensor& tensor : workload.tensors) {
    vectors.push_back(tensor.shape.size() == 1);
  }
  return vectors;
}

Bytes LoadedWorkload::total_bytes() const {
  const auto bytes = tensor_bytes();
  return std::accumulate(bytes.begin(), bytes.end(), Bytes{0});
}

std::vector<LoadedWorkload> load_workloads(const RunConfig& config) {
  check_replayable(config);
  std::vector<LoadedWorkload> workloads;
  for (const WorkloadConfig& workload : config.workloads) {
    workloads.push_back(load_workload(workload, config.compute.accelerator));
    check_workload(config, workloads.back());
  }
  check_distinct(config, workloads);
  return workloads;
}

void check_workload(const RunConfig& config, const LoadedWorkload& workload) {
  check_iteration(config, workload);
  check_compressors(config, workload);
  check_real_work(config, workload.workload);
  check_budget(config, workload.workload);
}

}  // namespace mergewise
