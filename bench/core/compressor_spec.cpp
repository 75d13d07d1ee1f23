// SPDX-License-Identifier: Apache-2.0
#include "bench/core/compressor_spec.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {
namespace {

constexpr double kLeastDensity = 1e-12;
constexpr std::int64_t kDrawnTogether = 8;  // elements that one call of the generator serves

OptionSpec word(const char* name, const char* summary, std::vector<std::string> choices) {
  std::string first = choices.front();
  return {.name = name,
          .kind = OptionKind::kWord,
          .summary = summary,
          .default_value = std::move(first),
          .choices = std::move(choices)};
}

OptionSpec number(const char* name, const char* summary, double value, double minimum,
                  double maximum) {
  return {.name = name,
          .kind = OptionKind::kNumber,
          .summary = summary,
          .default_value = value,
          .minimum = minimum,
          .maximum = maximum,
          .choices = {}};
}

OptionSpec integer(const char* name, const char* summary, std::int64_t value, double minimum,
                   double maximum) {
  return {.name = name,
          .kind = OptionKind::kInteger,
          .summary = summary,
          .default_value = value,
          .minimum = minimum,
          .maximum = maximum,
          .choices = {}};
}

OptionSpec density() {
  return number("density", "the part of the elements that is sent", 0.001, kLeastDensity, 1);
}
OptionSpec memory(std::vector<std::string> accepted) {
  return word("memory", "what a rank keeps between iterations", std::move(accepted));
}
OptionSpec scale() {
  return word("scale", "a scale for each tensor, or one for the whole group", {"tensor", "group"});
}
OptionSpec messages() { return integer("messages", "2 sends indices and values apart", 1, 1, 2); }
OptionSpec momentum() { return number("momentum", "of the momentum it keeps", 0.9, 0, 1); }
OptionSpec seed() {
  return {.name = "seed",
          .kind = OptionKind::kInteger,
          .summary = "of its draws; run: the run's own",
          .default_value = "run",
          .choices = {"run"}};
}

struct Entry {
  const char* id;
  std::vector<OptionSpec> options;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> kEntries{
      {"none", {}},
      {"fp16", {memory({"none", "residual"})}},
      {"bf16", {memory({"none", "residual"})}},
      {"topk", {density(), memory({"residual", "none"}), messages()}},
      {"dgc",
       {density(), memory({"velocity"}), momentum(),
        number("clip", "the largest norm of a rank's gradient of a group; 0: any", 0, 0, 1e30),
        integer("warm_up", "iterations in which the density falls from 1/4", 0, 0, 1e9),
        word("vectors", "how tensors of one dimension are sent", {"dense", "sparse"}), seed()}},
      {"randk",
       {density(), memory({"none", "residual"}),
        word("indices", "the same places on all ranks, or each rank's own, which it sends",
             {"shared", "sent"}),
        messages(), seed()}},
      {"qsgd",
       {memory({"none", "residual"}),
        integer("bucket", "elements that share a norm, a multiple of 8; 0: the whole group", 512, 0,
                1e9),
        seed()}},
      {"signsgd", {memory({"none"}), seed()}},
      {"ef_signsgd", {memory({"residual"}), scale()}},
      {"onebit", {memory({"residual"}), scale()}},
      {"signum", {memory({"momentum"}), momentum(), seed()}},
      {"terngrad", {memory({"none", "residual"}), scale(), seed()}},
  };
  return kEntries;
}

const Entry& entry_of(const std::string& id) {
  for (const Entry& entry : entries()) {
    if (id == entry.id) return entry;
  }
  throw InputError(unknown_name("compressor", id, compressor_ids()));
}

}  // namespace

const std::vector<std::string>& compressor_ids() {
  static const std::vector<std::string> kIds = [] {
    std::vector<std::string> ids;
    for (const Entry& entry : entries()) ids.emplace_back(entry.id);
    return ids;
  }();
  return kIds;
}

const std::vector<OptionSpec>& compressor_options(const std::string& id) {
  return entry_of(id).options;
}

const std::vector<std::string>& compressor_memories(const std::string& id) {
  static const std::vector<std::string> kNone{"none"};
  for (const OptionSpec& option : compressor_options(id)) {
    if (option.name == "memory") return option.choices;
  }
  return kNone;
}

CompressorSpec compressor_spec(const std::string& id, const Options& given,
                               std::uint64_t run_seed) {
  Options options;
  try {
    options = resolve(compressor_options(id), given);
  } catch (const InputError& error) {
    if (std::find(compressor_ids().begin(), compressor_ids().end(), id) == compressor_ids().end()) {
      throw;
    }
    throw InputError(fmt::format("compressor '{}': {}", id, error.what()));
  }
  CompressorSpec spec;
  spec.id = id;
  spec.seed = run_seed;
  if (options.contains("memory")) spec.memory = options.word("memory");
  if (options.contains("density")) spec.density = options.number("density");
  spec.group_scale = options.is_word("scale", "group");
  if (options.contains("bucket")) spec.bucket = options.integer("bucket");
  spec.sends_indices = options.is_word("indices", "sent");
  if (options.contains("messages")) spec.messages = static_cast<int>(options.integer("messages"));
  spec.dense_vectors = options.is_word("vectors", "dense");
  if (options.contains("momentum")) spec.momentum = options.number("momentum");
  if (options.contains("clip")) spec.clip = options.number("clip");
  if (options.contains("warm_up")) spec.warm_up = options.integer("warm_up");
  if (options.contains("seed") && !options.is_word("seed", "run")) {
    spec.seed = static_cast<std::uint64_t>(options.integer("seed"));
  }
  if (spec.bucket % kDrawnTogether != 0) {
    throw InputError(
        fmt::format("compressor 'qsgd': option 'bucket' is '{}', expected a multiple of {}",
                    spec.bucket, kDrawnTogether));
  }
  if (spec.id == "randk" && spec.messages == 2 && !spec.sends_indices) {
    throw InputError(
        "compressor 'randk': option 'messages' is '2', expected 1 where no indices are sent; say "
        "indices: sent too");
  }
  return spec;
}

}  // namespace mergewise
