// SPDX-License-Identifier: Apache-2.0
// What the reproduction of a paper's figures is made of: claims beside what we get, and tables.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <variant>
#include <vector>

namespace mergewise {

/// Nothing, a word, or a number in its column's unit.
using Cell = std::variant<std::monostate, std::string, double>;

struct Column {
  std::string name;
  std::string unit{};  ///< "" for words and plain numbers
  int digits = 1;      ///< after the point, for people
};

struct FigureTable {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as `columns`
  std::vector<std::string> notes{};     ///< below the table, a sentence each
  bool detail = false;                  ///< too long for a terminal: in JSON and HTML only
};

/// A claim of a paper beside what we get.
struct Claim {
  std::string what;
  std::string claimed;
  std::string ours;
  std::string difference;
  std::string cause;
};

struct Reproduction {
  std::string id;  ///< "mg_wfbp": the paper's, and its file's in configs/papers
  std::string title;
  std::string source;
  std::vector<std::string> assumptions;
  std::vector<Claim> claims{};
  std::vector<FigureTable> tables{};
  std::vector<std::string> not_run{};  ///< parts that were left out, each with its reason
};

inline constexpr const char* kReproductionSchema = "mergewise/reproduction/1";
[[nodiscard]] nlohmann::json to_json(const std::vector<Reproduction>& papers);
/// For a terminal: claims, tables without the long ones, what was not run.
[[nodiscard]] std::string text_of(const Reproduction& paper);

}  // namespace mergewise
