// SPDX-License-Identifier: Apache-2.0
// The plan's own document, with what the command knows beside it.
#include "bench/app/plan_document.hpp"

#include "bench/result/json_values.hpp"

#include <nlohmann/json.hpp>

#include <variant>

namespace mergewise {
nlohmann::json plan_document(const PlannedCase& planned, const Profile& profile) {
  nlohmann::json json = to_json(planned.plan);
  for (const ProfileTensor& tensor : profile.tensors) json["tensors"].push_back(tensor.name);
  json["options"] = nlohmann::json::object();
  for (const auto& [name, value] : planned.options.values()) {
    std::visit([&, &key = name](const auto& held) { json["options"][key] = held; }, value);
  }
  json["iteration_ns"] = planned.timeline.iteration_ns;
  json["compute_ns"] = planned.timeline.compute_ns;
  json["comm_busy_ns"] = planned.timeline.comm_busy_ns;
  json["exposed_ns"] = planned.timeline.exposed_ns;
  json["optimal_iteration_ns"] = or_null(planned.optimal_ns);
  json["gap"] = or_null(planned.gap());
  return json;
}

}  // namespace mergewise
