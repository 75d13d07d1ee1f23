// SPDX-License-Identifier: Apache-2.0
#include "bench/app/paper_config.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

namespace mergewise {
namespace {

constexpr const char* kSchema = "mergewise/paper/1";

struct Paper {
  const char* id;
  Reproduction (*reproduce)(const PaperInputs&);
};
constexpr Paper kPapers[] = {{"mg_wfbp", reproduce_mg_wfbp},
                             {"ddl_benchmarks", reproduce_ddl_benchmarks},
                             {"omgs", reproduce_omgs},
                             {"mergecomp", reproduce_mergecomp}};

}  // namespace

PaperConfig::PaperConfig(const std::string& id, const std::filesystem::path& folder,
                         const std::vector<std::string>& keys)
    : root_(parse_file(folder / (id + ".yaml"), kConfigLimits)), id_(id) {
  const Node schema = root_.at("schema");
  if (schema.as_string() != kSchema) {
    schema.fail(fmt::format("'{}', expected {}", excerpt(schema.as_string()), kSchema));
  }
  const Node name = root_.at("name");
  if (name.as_string() != id) {
    name.fail(fmt::format("'{}', expected the file's name '{}'", excerpt(name.as_string()), id));
  }
  std::vector<std::string> all{"schema", "name", "title", "source", "assumptions", "claims"};
  all.insert(all.end(), keys.begin(), keys.end());
  root_.allow_keys(all);
}

Reproduction PaperConfig::begin() const {
  Reproduction paper;
  paper.id = id_;
  paper.title = root_.at("title").as_string();
  paper.source = root_.at("source").as_string();
  for (const Node& text : root_.at("assumptions").as_list()) {
    paper.assumptions.push_back(text.as_string());
  }
  return paper;
}

Claim PaperConfig::claim(const std::string& key, const std::string& ours,
                         const std::string& difference) const {
  const Node claim = root_.at("claims").at(key);
  claim.allow_keys({"what", "claimed", "value", "cause"});
  return {claim.at("what").as_string(), claim.at("claimed").as_string(), ours, difference,
          claim.at("cause").as_string()};
}

double PaperConfig::claimed_value(const std::string& key) const {
  return root_.at("claims").at(key).at("value").as_number(-1e9, 1e9);
}

std::vector<Workload> workloads_from(const Node& root, const std::filesystem::path& accelerators) {
  const Accelerator accelerator =
      load_accelerator(root.at("accelerator").as_string(), accelerators);
  std::vector<Workload> workloads;
  for (const Node& node : root.at("networks").as_list()) {
    node.allow_keys({"model", "batch", "image_size", "as"});
    ModelArguments arguments;
    if (const auto size = node.find("image_size")) arguments.image_size = size->as_integer(1);
    workloads.push_back(make_workload(build_model(node.at("model").as_string(), arguments),
                                      node.at("batch").as_integer(1), accelerator));
    if (const auto name = node.find("as")) workloads.back().name = name->as_string();
  }
  return workloads;
}

std::optional<std::filesystem::path> PaperInputs::find(const std::string& file,
                                                       const std::string& part,
                                                       Reproduction& paper) const {
  if (!reference) {
    paper.not_run.push_back(fmt::format(
        "{}: needs {}, which is not part of Mergewise: name the folder that has it with "
        "--reference or MERGEWISE_REFERENCE",
        part, file));
    return std::nullopt;
  }
  const std::filesystem::path path = *reference / file;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    paper.not_run.push_back(fmt::format("{}: {} is not there", part, path.string()));
    return std::nullopt;
  }
  return path;
}

const std::vector<std::string>& paper_ids() {
  static const std::vector<std::string> kIds = [] {
    std::vector<std::string> ids;
    for (const Paper& paper : kPapers) ids.emplace_back(paper.id);
    return ids;
  }();
  return kIds;
}

Reproduction reproduce(const std::string& id, const PaperInputs& inputs) {
  for (const Paper& paper : kPapers) {
    if (id == paper.id) return paper.reproduce(inputs);
  }
  throw InputError(unknown_name("paper", id, paper_ids()));
}

}  // namespace mergewise
