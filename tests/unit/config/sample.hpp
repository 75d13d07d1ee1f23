// SPDX-License-Identifier: Apache-2.0
// What the tests of run configs share: a small vocabulary, a valid config.
#pragma once

#include "bench/config/run_config.hpp"

#include <filesystem>
#include <string>

namespace mergewise::testing {

inline ConfigVocabulary sample_vocabulary() {
  const OptionSpec cap{
      "cap_bytes", OptionKind::kInteger, "the cap", std::int64_t{26214400}, 1, 9.0e18, {}};
  const OptionSpec first_cap{
      "first_cap_bytes", OptionKind::kInteger, "the first cap", std::string("auto"), 1, 9.0e18,
      {"auto"}};
  const OptionSpec density{"density", OptionKind::kNumber, "what is kept", 0.001, 1e-9, 1, {}};
  const OptionSpec memory{
      "memory", OptionKind::kWord,   "error feedback", std::string("residual"), 0,
      0,        {"residual", "none"}};
  ConfigVocabulary vocabulary;
  vocabulary.models = {"resnet50", "vgg16", "bert_base"};
  vocabulary.strategies = {
      {"wfbp", {}}, {"single", {}}, {"ddp", {cap, first_cap}}, {"mg_wfbp", {}}, {"optimal", {}}};
  vocabulary.compressors = {{"none", {}}, {"topk", {density, memory}}};
  vocabulary.accelerators = {"v100", "a100"};
  vocabulary.devices = {"cpu"};
  vocabulary.collectives = {"gloo"};
  return vocabulary;
}

/// All that is required, in three lines; more keys may follow from line 4.
inline const std::string kRequired =
    "name: demo\n"
    "workloads: [{model: resnet50, batch: 64}]\n"
    "strategies: [wfbp]\n";

/// Every key, as a newcomer's config would have them.
inline const std::string kComplete =
    "name: quickstart\n"
    "workloads: [{model: resnet50, batch: 64}]   # a comment\n"
    "strategies: [wfbp, single, {ddp: {cap_bytes: 26214401}}, mg_wfbp, optimal]\n"
    "compressors: [none, {topk: {density: 0.01, memory: none}}]\n"
    "ranks: [2, 4]\n"
    "device: cpu\n"
    "collective: gloo\n"
    "compute: {mode: gemm, accelerator: a100}\n"
    "link: {a_us: 8000, gbps: 2.5}\n"
    "accumulation: 4\n"
    "grad_dtype: fp32\n"
    "buffers: copy\n"
    "iterations:\n"
    "  block: 4\n"
    "  max: 40\n"
    "  target: 0.05\n"
    "budget: 150s\n"
    "seed: 7\n"
    "deadline: 30s\n";

inline RunConfig run_config_of(const std::string& text,
                               const std::filesystem::path& source = "bad.yaml") {
  return run_config_from(parse_text(text, source.string(), kConfigLimits), source,
                         sample_vocabulary());
}

}  // namespace mergewise::testing
