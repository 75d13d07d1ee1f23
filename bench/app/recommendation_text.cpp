// SPDX-License-Identifier: Apache-2.0
// A recommendation in words, and as JSON.
#include "bench/app/planning.hpp"
#include "bench/app/recommendation.hpp"
#include "bench/core/text.hpp"
#include "bench/result/json_values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace mergewise {
namespace {

std::string groups_of(const CaseRecord& record) {
  const std::size_t groups = record.plan.ends().size();
  return groups == 1 ? "one group" : fmt::format("{} groups", groups);
}

std::string interval_text(const Difference& difference) {
  return fmt::format("({} to {} %)", fixed(difference.interval.low * 100, 1),
                     fixed(difference.interval.high * 100, 1));
}

std::string percent(double part) { return fixed(part * 100, 1) + " %"; }

const CaseRecord& baseline(const Recommendation& found) {
  return *std::find_if(found.measured.begin(), found.measured.end(),
                       [](const CaseRecord& record) { return record.strategy == kAlone; });
}

std::string times_text(const CaseRecord& merged, const CaseRecord& alone) {
  return fmt::format("{} instead of {}", human_time(merged.summary->median),
                     human_time(alone.summary->median));
}

std::string no_difference_text(const Recommendation& found) {
  if (!found.saved) {
    return "it makes no difference: every strategy makes the same plan, every tensor alone";
  }
  const bool alone_is_best = found.measured[0].strategy == kAlone;
  const CaseRecord& merged = found.measured[alone_is_best ? 1 : 0];
  const char* why =
      found.saved->distinguishable() ? "which is below 1 %" : "which cannot be told from nothing";
  return fmt::format(
      "it makes no difference: merging as {} ({}) saves {} {} of the iteration against sending "
      "every tensor alone, {}",
      merged.strategy, groups_of(merged), percent(found.saved->part), interval_text(*found.saved),
      why);
}

std::string verdict_text(const Recommendation& found) {
  switch (found.verdict) {
    case Verdict::kMerge:
      return fmt::format(
          "merge as {}: {}, saves {} {} of the iteration against sending every tensor alone ({})",
          found.measured[0].strategy, groups_of(found.measured[0]), percent(found.saved->part),
          interval_text(*found.saved), times_text(found.measured[0], baseline(found)));
    case Verdict::kDoNotMerge: {
      const Difference lost = found.saved->negated();
      return fmt::format(
          "do not merge: sending every tensor alone is the fastest; merging as {} ({}) loses {} {} "
          "({})",
          found.measured[1].strategy, groups_of(found.measured[1]), percent(lost.part),
          interval_text(lost), times_text(found.measured[1], found.measured[0]));
    }
    case Verdict::kNoDifference:
      return no_difference_text(found);
    case Verdict::kUnknown:
      break;
  }
  return "no verdict: too little was measured to compare merging with sending every tensor alone";
}

std::string runner_up_text(const Recommendation& found) {
  if (!found.runner_up_slower) return "";
  const Difference& slower = *found.runner_up_slower;
  return fmt::format(
      "Runner-up: {} ({}), {} slower {}: {}.\n", found.measured[1].strategy,
      groups_of(found.measured[1]), percent(slower.part), interval_text(slower),
      slower.distinguishable() ? "it can be told apart" : "the two cannot be told apart");
}

std::optional<double> prediction_error(const CaseRecord& record) {
  if (!record.predicted_ns || !record.summary) return std::nullopt;
  return *record.predicted_ns / record.summary->median - 1;
}

double largest_error(const Recommendation& found) {
  double largest = 0;
  for (const CaseRecord& record : found.measured) {
    largest = std::max(largest, std::abs(prediction_error(record).value_or(0)));
  }
  return largest;
}

std::string predictions_text(const Recommendation& found) {
  if (found.measured.empty()) return "";
  const CaseRecord& best = found.measured[0];
  const auto error = prediction_error(best);
  if (!error) return "";
  return fmt::format(
      "Predictions: {} for {} ({:+.1f} %); off by at most {} over the {} plans that were "
      "measured.\n",
      human_time(*best.predicted_ns), best.strategy, *error * 100, percent(largest_error(found)),
      found.measured.size());
}

std::string meaning_of(const std::string& flag) {
  static const std::map<std::string, std::string> kMeanings{
      {"oversubscribed",
       "more threads than processors worked here, so ranks waited for each other"},
      {"link_emulated", "collectives were held to an emulated link"},
      {"few_samples", "a plan was measured over fewer than 10 iterations: raise --budget"},
      {"unstable", "a plan had not settled when its measuring began"},
      {"machine_bound", "iterations over the emulated link were not what that link alone explains"},
      {"one_host", "all ranks ran on this host, so nothing went over a network"}};
  return kMeanings.at(flag);
}

std::string distrust_text(const Recommendation& found) {
  if (found.flags.empty()) return "";
  std::string text = "\nNot to be trusted for a cluster; start it there, one process per rank:\n";
  for (const std::string& flag : found.flags) {
    text += fmt::format("- {} ({})\n", meaning_of(flag), flag);
  }
  return text;
}

std::string use_text(const CaseRecord& record, const RecommendationFiles& files) {
  std::string text;
  if (is_plain(record.plan)) {
    text += fmt::format(
        "- PyTorch: give {} to load_plan() of mergewise_torch (docs/torch.md)\n"
        "- Horovod: mergewise plan --profile {} --strategy {} --export horovod\n",
        files.plan.string(), files.profile.string(), record.strategy);
  } else {
    text += fmt::format(
        "- {} has the plan, but mergewise_torch and Horovod take only groups that are all-reduced "
        "when they are ready, and {} does more\n",
        files.plan.string(), record.strategy);
  }
  return text;
}

// The fastest one that frameworks can be told, where the verdict's plan is none.
std::string instead_text(const Recommendation& found, const RecommendationFiles& files) {
  if (found.verdict != Verdict::kMerge || is_plain(found.measured[0].plan)) return "";
  const auto plain = std::find_if(found.measured.begin(), found.measured.end(),
                                  [](const CaseRecord& record) { return is_plain(record.plan); });
  if (plain == found.measured.end()) return "";
  return fmt::format(
      "- the fastest plan measured that they take is that of {} ({}): mergewise plan --profile {} "
      "--strategy {} --output FILE\n",
      plain->strategy, human_time(plain->summary->median), files.profile.string(), plain->strategy);
}

std::string next_text(const Recommendation& found, const RecommendationFiles& files) {
  std::string text = "\nNext:\n";
  switch (found.verdict) {
    case Verdict::kMerge:
      text += use_text(found.measured[0], files) + instead_text(found, files);
      break;
    case Verdict::kDoNotMerge:
      text +=
          "- switch merging off, or make its buffers small\n" + use_text(found.measured[0], files);
      break;
    case Verdict::kNoDifference:
      text += fmt::format("- keep what you have; {} has the fastest plan that was measured\n",
                          files.plan.string());
      break;
    case Verdict::kUnknown:
      text += "- see below why plans were not measured, and try again with a larger --budget\n";
      break;
  }
  return text;
}

nlohmann::json difference_json(const std::optional<Difference>& difference) {
  if (!difference) return nullptr;
  return {{"part", difference->part},
          {"low", difference->interval.low},
          {"high", difference->interval.high},
          {"confidence", difference->interval.confidence},
          {"distinguishable", difference->distinguishable()}};
}

nlohmann::json plan_json(const CaseRecord& record) {
  nlohmann::json json{{"strategy", record.strategy},
                      {"groups", record.plan.ends().size()},
                      {"status", name_of(record.status)},
                      {"reason", record.reason},
                      {"predicted_ns", or_null(record.predicted_ns)},
                      {"median_ns", nullptr},
                      {"low_ns", nullptr},
                      {"high_ns", nullptr},
                      {"prediction_error", or_null(prediction_error(record))},
                      {"flags", record.flags}};
  if (record.summary) {
    json["median_ns"] = record.summary->median;
    json["low_ns"] = record.summary->interval.low;
    json["high_ns"] = record.summary->interval.high;
  }
  return json;
}

}  // namespace

std::string recommendation_text(const Recommendation& recommendation,
                                const RecommendationFiles& files) {
  std::string text = verdict_text(recommendation) + ".\n" + runner_up_text(recommendation) +
                     predictions_text(recommendation);
  for (const CaseRecord& record : recommendation.failed) {
    text += fmt::format("Not measured: {}: {}: {}\n", record.strategy, name_of(record.status),
                        record.reason);
  }
  return text + distrust_text(recommendation) + next_text(recommendation, files);
}

nlohmann::json recommendation_json(const Recommendation& recommendation,
                                   const RecommendationFiles& files) {
  const std::vector<CaseRecord>& measured = recommendation.measured;
  nlohmann::json json{{"schema", "mergewise/recommendation/1"},
                      {"verdict", name_of(recommendation.verdict)},
                      {"text", verdict_text(recommendation)},
                      {"against", kAlone},
                      {"saved", difference_json(recommendation.saved)},
                      {"runner_up_slower", difference_json(recommendation.runner_up_slower)},
                      {"fastest", nullptr},
                      {"runner_up", nullptr},
                      {"largest_prediction_error", nullptr},
                      {"trust_for_a_cluster", recommendation.flags.empty()},
                      {"flags", recommendation.flags},
                      {"plans", nlohmann::json::array()},
                      {"plan", nullptr},
                      {"profile", files.profile.string()},
                      {"result", files.result.string()}};
  if (!measured.empty()) {
    json["fastest"] = measured[0].strategy;
    json["largest_prediction_error"] = largest_error(recommendation);
    json["plan"] = files.plan.string();
  }
  if (measured.size() > 1) json["runner_up"] = measured[1].strategy;
  for (const auto* part : {&measured, &recommendation.failed, &recommendation.left_out}) {
    for (const CaseRecord& record : *part) json["plans"].push_back(plan_json(record));
  }
  return json;
}

}  // namespace mergewise
