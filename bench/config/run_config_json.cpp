// SPDX-License-Identifier: Apache-2.0
#include "bench/config/config_readers.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mergewise {

using nlohmann::json;

namespace detail {

json workload_json(const WorkloadConfig& workload) {
  if (!workload.profile.empty()) return {{"profile", workload.profile.string()}};
  if (!workload.file.empty()) return {{"file", workload.file.string()}};
  json object = {{"model", workload.model}, {"batch", workload.batch}};
  if (workload.image_size > 0) object["image_size"] = workload.image_size;
  if (workload.sequence_length > 0) object["sequence_length"] = workload.sequence_length;
  return object;
}

json choice_json(const ChoiceConfig& choice) {
  if (choice.options.values().empty()) return choice.id;
  json options = json::object();
  for (const auto& [name, value] : choice.options.values()) {
    std::visit([&options, &key = name](const auto& held) { options[key] = held; }, value);
  }
  return {{choice.id, options}};
}

}  // namespace detail

namespace {

std::string duration_text(Nanoseconds duration) { return fmt::format("{}ms", duration / 1e6); }

}  // namespace

json to_json(const RunConfig& config) {
  json object = {
      {"name", config.name},
      {"workloads", detail::json_list(config.workloads, detail::workload_json)},
      {"strategies", detail::json_list(config.strategies, detail::choice_json)},
      {"compressors", detail::json_list(config.compressors, detail::choice_json)},
      {"ranks", config.ranks},
      {"device", config.device},
      {"collective", config.collective},
      {"compute", {{"mode", config.compute.mode}, {"accelerator", config.compute.accelerator}}},
      {"accumulation", config.accumulation},
      {"grad_dtype", "fp32"},
      {"buffers", config.buffers},
      {"iterations",
       {{"block", config.iterations.block},
        {"max", config.iterations.max},
        {"target", config.iterations.target}}},
      {"seed", config.seed},
      {"deadline", duration_text(config.deadline_ns)},
  };
  if (config.link) object["link"] = {{"a_us", config.link->a_us}, {"gbps", config.link->gbps}};
  if (config.budget_ns > 0) object["budget"] = duration_text(config.budget_ns);
  return object;
}

}  // namespace mergewise
