// SPDX-License-Identifier: Apache-2.0
// Decisions as text and as JSON.
#include "bench/app/explanation.hpp"

#include "bench/app/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace mergewise {
namespace {

constexpr double kNothing = 5e-5;  // of a gap: less is printed as 0.00 %

struct Symbol {
  const char* text;     ///< as it stands in the sides of an inequality
  const char* meaning;  ///< one line
};
constexpr Symbol kSymbols[] = {
    {"p+q", "p: bytes of the open group, q: of the next tensor"},
    {"T(", "T(M): time to send a group of M bytes, as the profile's cost model says"},
    {"c(", "c(M): time to pack and compress M bytes"},
    {"s +", "s: when the open group could start, after the start of the backward pass"},
    {"R[", "R[i+1]: when the next tensor is ready, after the start of the backward pass"},
    {"b[", "b[i+1]: backward time of the next tensor"},
    {"slack", "slack: how long the open group would wait for the network anyway"},
};

/// Both values in one unit, with enough digits to tell them apart.
std::pair<std::string, std::string> values(const Decision& decision) {
  const double largest = std::max(std::abs(decision.left_value), std::abs(decision.right_value));
  double size = 1;
  const char* unit = decision.unit == "bytes" ? "B" : "ns";
  if (decision.unit == "ns" && largest >= 1e9) {
    size = 1e9;
    unit = "s";
  } else if (decision.unit == "ns" && largest >= 1e6) {
    size = 1e6;
    unit = "ms";
  } else if (decision.unit == "ns" && largest >= 1e3) {
    size = 1e3;
    unit = "us";
  }
  for (const int digits : {6, 9, 12, 17}) {
    const int shown = decision.unit == "bytes" ? 17 : digits;
    std::string left = fmt::format("{:.{}g} {}", decision.left_value / size, shown, unit);
    std::string right = fmt::format("{:.{}g} {}", decision.right_value / size, shown, unit);
    const bool told_apart = (left == right) == (decision.left_value == decision.right_value);
    if (told_apart || digits == 17) return {std::move(left), std::move(right)};
  }
  return {};
}

const char* relation(const Decision& decision) {
  if (decision.left_value < decision.right_value) return "<";
  return decision.left_value > decision.right_value ? ">" : "=";
}

std::vector<std::string> row(const Decision& decision, const Profile& profile) {
  std::vector<std::string> cells{fmt::format("{}", decision.border),
                                 fmt::format("{} | {}", profile.tensors[decision.border - 1].name,
                                             profile.tensors[decision.border].name),
                                 decision.merged ? "merge" : "split"};
  if (decision.left.empty()) {
    cells.insert(cells.end(), {"", "", ""});
  } else {
    const auto [left, right] = values(decision);
    cells.push_back(fmt::format("{} = {}", decision.left, left));
    cells.emplace_back(relation(decision));
    cells.push_back(fmt::format("{} = {}", decision.right, right));
  }
  cells.push_back(decision.why);
  return cells;
}

/// The meanings of the symbols that some inequality uses.
std::string legend(const Decisions& decisions) {
  std::string text;
  for (const Symbol& symbol : kSymbols) {
    const bool used =
        std::any_of(decisions.begin(), decisions.end(), [&](const Decision& decision) {
          return decision.left.find(symbol.text) != std::string::npos ||
                 decision.right.find(symbol.text) != std::string::npos;
        });
    if (used) text += fmt::format("  {}\n", symbol.meaning);
  }
  return text;
}

}  // namespace

std::string distance_text(const PlannedCase& planned) {
  if (!planned.optimal_ns) return "";
  const std::optional<double> gap = planned.gap();
  if (!gap) {
    return planned.timeline.iteration_ns > 0
               ? "above the optimum, which takes no time"
               : "as fast as the optimum: there is nothing to compute and nothing to wait for";
  }
  const std::string optimum = human_time(*planned.optimal_ns);
  if (*gap < -kNothing) {
    return fmt::format("{:.2f} % below the best plan that only merges ({})", *gap * -100, optimum);
  }
  if (*gap < kNothing) return fmt::format("as fast as the optimum ({})", optimum);
  return fmt::format("{:.2f} % above the optimum ({})", *gap * 100, optimum);
}

std::string explanation_text(const PlannedCase& planned, const Decisions& decisions,
                             const Profile& profile) {
  std::string text =
      "Why: each border between two tensors in ready order, with both sides of what decided it.\n"
      "Rules merge where the left side is smaller; searches, and rules that weigh nothing, show "
      "what the border is worth.\n";
  if (decisions.empty()) {
    text += profile.tensors.size() == 1 ? "There is one tensor, so there is no border.\n"
                                        : "No border was weighed: there are too many groups.\n";
  } else {
    text += legend(decisions) + "\n";
    std::vector<std::vector<std::string>> rows;
    for (const Decision& decision : decisions) rows.push_back(row(decision, profile));
    text += format_table({"border", "between", "decision", "left", "", "right", "why"}, rows, 7);
  }
  const std::string distance = distance_text(planned);
  const char* unknown =
      "how far that is from the optimum is not known (the profile lacks a cost for it, or it would "
      "take too long to find)";
  text += fmt::format("\nThis plan takes {}: {}.\n", human_time(planned.timeline.iteration_ns),
                      distance.empty() ? unknown : distance);
  return text;
}

nlohmann::json explanation_json(const Decisions& decisions, const Profile& profile) {
  nlohmann::json list = nlohmann::json::array();
  for (const Decision& decision : decisions) {
    list.push_back({{"border", decision.border},
                    {"after", profile.tensors[decision.border - 1].name},
                    {"before", profile.tensors[decision.border].name},
                    {"merged", decision.merged},
                    {"left", decision.left},
                    {"left_value", decision.left_value},
                    {"right", decision.right},
                    {"right_value", decision.right_value},
                    {"unit", decision.unit},
                    {"why", decision.why}});
  }
  return list;
}

}  // namespace mergewise
