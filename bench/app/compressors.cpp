// SPDX-License-Identifier: Apache-2.0
#include "bench/app/compressors.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "bench/cost/wire.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace mergewise {
namespace {

constexpr std::pair<std::string_view, const char*> kSends[] = {
    {"none", "gradients as they are"},
    {"fp16", "half-precision numbers"},
    {"bf16", "half-precision numbers (bfloat16)"},
    {"topk", "the largest values, and where they are"},
    {"dgc", "as topk, the largest by a sampled threshold"},
    {"randk", "values at places drawn at random"},
    {"qsgd", "8-bit levels, a norm for each bucket"},
    {"signsgd", "signs, for a vote"},
    {"ef_signsgd", "signs, a scale for each tensor"},
    {"onebit", "signs, two means for each tensor"},
    {"signum", "signs of the momentum, for a vote"},
    {"terngrad", "2-bit values, a maximum for each tensor"},
};

const char* what_sends(const std::string& id) {
  const auto* const found = std::find_if(std::begin(kSends), std::end(kSends),
                                         [&](const auto& row) { return row.first == id; });
  MERGEWISE_CHECK(found != std::end(kSends), "every compressor says what it sends");
  return found->second;
}

ChoiceConfig completed(const ChoiceConfig& compressor) {
  return {compressor.id, resolve(compressor_options(compressor.id), compressor.options)};
}

}  // namespace

const std::vector<CompressorEntry>& compressors() {
  static const std::vector<CompressorEntry> kEntries = [] {
    std::vector<CompressorEntry> entries;
    for (const std::string& id : compressor_ids()) {
      const Collective collective = WireFormat(compressor_spec(id), 4).collective();
      entries.push_back(
          {id,
           fmt::format("{}; {}", what_sends(id),
                       collective == Collective::kAllGather ? "all-gather" : "all-reduce"),
           compressor_options(id)});
    }
    return entries;
  }();
  return kEntries;
}

std::string label_of(const ChoiceConfig& compressor) {
  const Options complete = completed(compressor).options;
  std::string label = compressor.id;
  for (const OptionSpec& option : compressor_options(compressor.id)) {
    const OptionValue& value = complete.values().at(option.name);
    if (value == option.default_value) continue;
    label += fmt::format(" {}={}", option.name, to_string(value));
  }
  return label;
}

void check_compressor(const ChoiceConfig& compressor) {
  (void)compressor_spec(compressor.id, compressor.options);
}

ChoiceConfig parse_compressor(const std::string& text) {
  std::size_t end = std::min(text.find(','), text.size());
  ChoiceConfig compressor{text.substr(0, end), {}};
  (void)compressor_options(compressor.id);  // an unknown id is the first thing to say
  while (end < text.size()) {
    const std::size_t begin = end + 1;
    end = std::min(text.find(',', begin), text.size());
    auto [name, value] = parse_assignment(text.substr(begin, end - begin));
    if (compressor.options.contains(name)) {
      throw InputError(fmt::format("compressor '{}': option '{}' is given twice, expected it once",
                                   excerpt(text), name));
    }
    compressor.options.set(name, std::move(value));
  }
  check_compressor(compressor);
  return compressor;
}

std::vector<ChoiceConfig> parse_compressors(const std::vector<std::string>& texts) {
  std::vector<ChoiceConfig> parsed;
  std::vector<ChoiceConfig> complete;
  const auto add = [&](const std::string& text) {
    ChoiceConfig compressor = parse_compressor(text);
    ChoiceConfig full = completed(compressor);
    if (std::find(complete.begin(), complete.end(), full) != complete.end()) {
      throw InputError(
          fmt::format("--compressor {}: this compressor is given twice; keep one of them", text));
    }
    parsed.push_back(std::move(compressor));
    complete.push_back(std::move(full));
  };
  for (const std::string& text : texts) {
    if (text != "all") {
      add(text);
      continue;
    }
    for (const std::string& id : compressor_ids()) {
      if (id != "none") add(id);
    }
  }
  return parsed;
}

void add_compressor_option(CLI::App& command, std::vector<std::string>& texts,
                           const std::string& description) {
  command
      .add_option("--compressor", texts,
                  description + ": ID[,OPTION=VALUE...], see `mergewise list compressors`")
      ->allow_extra_args(false);
}

}  // namespace mergewise
