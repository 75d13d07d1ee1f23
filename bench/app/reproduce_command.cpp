// SPDX-License-Identifier: Apache-2.0
// `mergewise reproduce`: what papers claim beside what we get.
#include "bench/app/commands.hpp"
#include "bench/app/data_folder.hpp"
#include "bench/app/output.hpp"
#include "bench/app/paper_config.hpp"
#include "bench/core/text.hpp"
#include "bench/result/result.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace mergewise {
namespace {

constexpr const char* kAll = "all";

struct Arguments {
  std::string paper;
  std::string reference;
  std::string out;
  std::string format = "table";
};

std::vector<std::string> chosen_papers(const std::string& paper) {
  if (paper == kAll) return paper_ids();
  std::vector<std::string> choices = paper_ids();
  if (std::find(choices.begin(), choices.end(), paper) != choices.end()) return {paper};
  choices.emplace_back(kAll);
  throw InputError(unknown_name("paper", paper, choices));
}

ExitCode reproduce_papers(const Arguments& arguments) {
  check_output_file(arguments.out, "--out");
  PaperInputs inputs{configs_folder() / "papers", clusters_folder(), accelerators_folder(), {}};
  if (!arguments.reference.empty()) inputs.reference = arguments.reference;
  std::vector<Reproduction> papers;
  for (const std::string& id : chosen_papers(arguments.paper)) {
    papers.push_back(reproduce(id, inputs));
  }
  const nlohmann::json document = to_json(papers);
  if (!arguments.out.empty()) write_file(arguments.out, document.dump(1) + "\n");
  if (arguments.format == "json") {
    fmt::print("{}\n", document.dump(1));
  } else {
    for (std::size_t i = 0; i < papers.size(); ++i) {
      fmt::print("{}{}", i == 0 ? "" : "\n\n", text_of(papers[i]));
    }
  }
  if (arguments.paper == kAll || papers.front().not_run.empty()) return ExitCode::kOk;
  throw InputError(papers.front().not_run.front());
}

}  // namespace

void add_reproduce_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "reproduce", "Compute what papers publish and show it beside what they claim");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("paper", arguments->paper, fmt::format("{} or {}", join(paper_ids()), kAll))
      ->required();
  command
      ->add_option("--reference", arguments->reference,
                   "Folder with published measurements: published/*.csv, traces/*.json")
      ->envname("MERGEWISE_REFERENCE");
  command->add_option("--out", arguments->out,
                      "JSON file to write, for `python -m mergewise_report.reproduction`");
  add_format_option(*command, arguments->format);
  command->callback(
      [&action, arguments] { action = [arguments] { return reproduce_papers(*arguments); }; });
}

}  // namespace mergewise
