// SPDX-License-Identifier: Apache-2.0
// `mergewise plan`: one strategy's plan for a profile, in the model only.
#include "bench/app/commands.hpp"
#include "bench/app/planning.hpp"
#include "bench/app/table.hpp"
#include "bench/cost/profile.hpp"
#include "bench/strategies/registry.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace mergewise {
namespace {

struct Arguments {
  std::string profile;
  std::string strategy;
  std::vector<std::string> options;
  std::string compressor;
  double density = 0;
  std::string format = "table";
};

template <typename T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json document(const PlannedCase& planned) {
  nlohmann::json json = to_json(planned.plan);
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

void print_table(const PlannedCase& planned, const TimeModel& model) {
  const Timeline& timeline = planned.timeline;
  fmt::print("{}: {} groups of {} tensors, iteration {}", planned.plan.strategy,
             planned.plan.groups.size(), model.tensor_count(), human_time(timeline.iteration_ns));
  if (const auto gap = planned.gap()) {
    fmt::print(", {:.2f} % above the optimum ({})", *gap * 100, human_time(*planned.optimal_ns));
  }
  fmt::print("\ncompute {}, communication {} of which exposed {}\n\n",
             human_time(timeline.compute_ns), human_time(timeline.comm_busy_ns),
             human_time(timeline.exposed_ns));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < planned.plan.groups.size(); ++i) {
    const Group& group = planned.plan.groups[i];
    const Bytes bytes = model.bytes(group.begin, group.end);
    rows.push_back({fmt::format("{}", i), fmt::format("{}..{}", group.begin, group.end - 1),
                    human_bytes(bytes), human_time(model.ready(group.end - 1)),
                    human_time(model.transfer(group.begin, group.end))});
  }
  fmt::print("{}", format_table({"group", "tensors", "size", "backward until ready", "transfer"},
                                rows, 2));
}

ExitCode plan(const Arguments& arguments) {
  Profile profile = load_profile(arguments.profile);
  if (!arguments.compressor.empty()) profile.compressor = arguments.compressor;
  if (arguments.density > 0) profile.density = arguments.density;
  std::vector<std::string> notes = profile.notes;
  Options options = known_options(arguments.strategy, profile.options, notes);
  for (const std::string& assignment : arguments.options) {
    const auto [name, value] = parse_assignment(assignment);
    options.set(name, value);
  }
  const TimeModel model(profile);
  const PlannedCase planned =
      plan_case(arguments.strategy, options, model, optimal_iteration(model));
  for (const std::string& note : notes) fmt::print(stderr, "mergewise: note: {}\n", note);
  if (arguments.format == "json") {
    fmt::print("{}\n", document(planned).dump(2));
  } else {
    print_table(planned, model);
  }
  return ExitCode::kOk;
}

}  // namespace

void add_plan_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "plan",
      "Plan the merging of a profile's gradients by one strategy and predict the iteration");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("--profile", arguments->profile, "Profile file (mergewise/profile/1)")
      ->required();
  command
      ->add_option("--strategy", arguments->strategy,
                   "Strategy id, see `mergewise list strategies`")
      ->required();
  command->add_option("--option", arguments->options,
                      "An option of the strategy, name=value; may be repeated; beats the profile");
  command->add_option("--compressor", arguments->compressor, "Compressor id; beats the profile");
  command->add_option("--density", arguments->density, "Density of a sparse compressor, (0, 1]")
      ->check(CLI::Range(1e-12, 1.0));
  add_format_option(*command, arguments->format);
  command->callback([&action, arguments] { action = [arguments] { return plan(*arguments); }; });
}

}  // namespace mergewise
