// SPDX-License-Identifier: Apache-2.0
// `mergewise plan`: one strategy's plan for a profile, in the model only.
#include "bench/app/commands.hpp"
#include "bench/app/compressors.hpp"
#include "bench/app/explanation.hpp"
#include "bench/app/export_horovod.hpp"
#include "bench/app/output.hpp"
#include "bench/app/plan_document.hpp"
#include "bench/app/planning.hpp"
#include "bench/app/table.hpp"
#include "bench/core/error.hpp"
#include "bench/cost/profile.hpp"
#include "bench/result/result.hpp"
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
  std::vector<std::string> compressor;
  std::string format = "table";
  std::string output;
  std::string export_for;
  bool explain = false;
};

/// How long each group is sent, its parts and phases' pieces together.
std::vector<Nanoseconds> transfers(const PlannedCase& planned) {
  std::vector<Nanoseconds> times(planned.plan.groups.size());
  for (const Span& span : planned.timeline.spans) {
    if (span.activity == Activity::kTransfer) times[span.index] += span.end - span.begin;
  }
  return times;
}

void print_table(const PlannedCase& planned, const TimeModel& model) {
  const Timeline& timeline = planned.timeline;
  const std::string distance = distance_text(planned);
  const std::size_t groups = planned.plan.ends().size();
  fmt::print("{}: {} of {} tensors, iteration {}{}{}\n", planned.plan.strategy,
             groups == 1 ? "one group" : fmt::format("{} groups", groups), model.tensor_count(),
             human_time(timeline.iteration_ns), distance.empty() ? "" : ", ", distance);
  fmt::print("compute {}, communication {} of which exposed {}\n\n",
             human_time(timeline.compute_ns), human_time(timeline.comm_busy_ns),
             human_time(timeline.exposed_ns));
  const std::vector<Nanoseconds> sent = transfers(planned);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < planned.plan.groups.size(); ++i) {
    const Group& group = planned.plan.groups[i];
    rows.push_back({fmt::format("{}", i), fmt::format("{}..{}", group.begin, group.end - 1),
                    name_of(group.collective), human_bytes(model.bytes(group.begin, group.end)),
                    human_time(model.ready(group.end - 1)), human_time(sent[i])});
  }
  fmt::print("{}",
             format_table({"group", "tensors", "by", "size", "backward until ready", "transfer"},
                          rows, 3));
}

void print(const Arguments& arguments, const PlannedCase& planned, const TimeModel& model,
           const Profile& profile) {
  nlohmann::json document = plan_document(planned, profile);
  Decisions decisions;
  if (arguments.explain) {
    decisions = make_strategy(arguments.strategy)->explain(model, planned.options).second;
    document["decisions"] = explanation_json(decisions, profile);
  }
  if (!arguments.output.empty()) write_file(arguments.output, document.dump(2) + "\n");
  if (!arguments.export_for.empty()) {
    fmt::print("{}\n", horovod_document(planned.plan, profile).dump(2));
  } else if (arguments.format == "json") {
    fmt::print("{}\n", document.dump(2));
  } else {
    print_table(planned, model);
    if (arguments.explain) fmt::print("\n{}", explanation_text(planned, decisions, profile));
  }
}

/// The command line's beats the profile's; the density stays where it gives none.
void use_compressor(const std::vector<std::string>& given, Profile& profile) {
  if (given.empty()) return;
  if (given.size() > 1 || given.front() == "all") {
    throw InputError(
        "--compressor: a plan is made for one compressor, expected one ID[,OPTION=VALUE...]");
  }
  const ChoiceConfig compressor = parse_compressor(given.front());
  const double density = profile.density;
  set_compressor(profile, compressor.id, compressor.options);
  if (!compressor.options.contains("density")) profile.density = density;
}

ExitCode plan(const Arguments& arguments) {
  check_output_file(arguments.output, "--output");
  Profile profile = load_profile(arguments.profile);
  use_compressor(arguments.compressor, profile);
  std::vector<std::string> notes = profile.notes;
  Options options = known_options(arguments.strategy, profile.options, notes);
  for (const std::string& assignment : arguments.options) {
    const auto [name, value] = parse_assignment(assignment);
    options.set(name, value);
  }
  const TimeModel model(profile);
  Optima optima(model);
  const PlannedCase planned = plan_case(arguments.strategy, options, model, optima);
  for (const std::string& note : notes) fmt::print(stderr, "mergewise: note: {}\n", note);
  print(arguments, planned, model, profile);
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
  add_compressor_option(*command, arguments->compressor, "Compressor; beats the profile's");
  add_format_option(*command, arguments->format);
  command->add_flag(
      "--explain", arguments->explain,
      "Say for each border what decided it, and how far the plan is from the optimum");
  command->add_option("--output", arguments->output,
                      "Also write the plan as JSON to this file, for mergewise_torch");
  command
      ->add_option("--export", arguments->export_for,
                   "Print the groups in another program's form instead of the plan")
      ->check(CLI::IsMember({"horovod"}));
  command->callback([&action, arguments] { action = [arguments] { return plan(*arguments); }; });
}

}  // namespace mergewise
