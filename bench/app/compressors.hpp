// SPDX-License-Identifier: Apache-2.0
// Compressors as people name them: in lists, on command lines, in results.
#pragma once

#include "bench/config/run_config.hpp"
#include "bench/core/compressor_spec.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mergewise {

struct CompressorEntry {
  std::string id;
  std::string summary;              ///< what is sent, and by which collective
  std::vector<OptionSpec> options;  ///< compressor_options()
};

/// Those of compressor_ids(), in that order.
[[nodiscard]] const std::vector<CompressorEntry>& compressors();

/// What results tell compressors apart by: "topk", or "topk density=0.01" with the options that are
/// not the defaults.
[[nodiscard]] std::string label_of(const ChoiceConfig& compressor);

/// Throws InputError for options that do not go together: what a config is checked with.
void check_compressor(const ChoiceConfig& compressor);

/// `--compressor ID[,OPTION=VALUE ...]`: the one spelling of all commands.
[[nodiscard]] ChoiceConfig parse_compressor(const std::string& text);
/// The same of each text; "all" is every compressor that has costs. Throws InputError for one that
/// comes twice, with other spellings of its options too.
[[nodiscard]] std::vector<ChoiceConfig> parse_compressors(const std::vector<std::string>& texts);
/// The option itself; may be repeated.
void add_compressor_option(CLI::App& command, std::vector<std::string>& texts,
                           const std::string& description);

}  // namespace mergewise
