// SPDX-License-Identifier: Apache-2.0
#include "bench/app/reproduction.hpp"

#include "bench/app/table.hpp"
#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "bench/core/version.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mergewise {
namespace {

using nlohmann::json;

json to_json(const Cell& cell) {
  if (const auto* word = std::get_if<std::string>(&cell)) return *word;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return nullptr;
}

json to_json(const FigureTable& table) {
  json columns = json::array();
  for (const Column& column : table.columns) {
    columns.push_back({{"name", column.name}, {"unit", column.unit}, {"digits", column.digits}});
  }
  json rows = json::array();
  for (const auto& cells : table.rows) {
    MERGEWISE_CHECK(cells.size() == table.columns.size(), "a row has a cell for each column");
    json row = json::array();
    for (const Cell& cell : cells) row.push_back(to_json(cell));
    rows.push_back(std::move(row));
  }
  return {{"title", table.title},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)},
          {"notes", table.notes},
          {"detail", table.detail}};
}

json to_json(const Claim& claim) {
  return {{"what", claim.what},
          {"claimed", claim.claimed},
          {"ours", claim.ours},
          {"difference", claim.difference},
          {"cause", claim.cause}};
}

json to_json(const Reproduction& paper) {
  json claims = json::array();
  for (const Claim& claim : paper.claims) claims.push_back(to_json(claim));
  json tables = json::array();
  for (const FigureTable& table : paper.tables) tables.push_back(to_json(table));
  return {{"id", paper.id},
          {"title", paper.title},
          {"source", paper.source},
          {"assumptions", paper.assumptions},
          {"claims", std::move(claims)},
          {"tables", std::move(tables)},
          {"not_run", paper.not_run}};
}

std::string text_of(const Cell& cell, const Column& column) {
  if (const auto* word = std::get_if<std::string>(&cell)) return *word;
  if (const auto* number = std::get_if<double>(&cell)) return fixed(*number, column.digits);
  return "-";
}

std::string text_of(const FigureTable& table) {
  std::vector<std::string> header;
  for (const Column& column : table.columns) {
    header.push_back(column.unit.empty() ? column.name
                                         : fmt::format("{} [{}]", column.name, column.unit));
  }
  std::vector<std::vector<std::string>> rows;
  std::size_t words = table.columns.size();  // leading columns without a number align left
  for (const auto& cells : table.rows) {
    MERGEWISE_CHECK(cells.size() == table.columns.size(), "a row has a cell for each column");
    std::vector<std::string> row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (std::holds_alternative<double>(cells[i])) words = std::min(words, i);
      row.push_back(text_of(cells[i], table.columns[i]));
    }
    rows.push_back(std::move(row));
  }
  std::string text = fmt::format("\n{}\n{}", table.title, format_table(header, rows, words));
  for (const std::string& note : table.notes) text += fmt::format("  {}\n", note);
  return text;
}

}  // namespace

json to_json(const std::vector<Reproduction>& papers) {
  json list = json::array();
  for (const Reproduction& paper : papers) list.push_back(to_json(paper));
  return {
      {"schema", kReproductionSchema}, {"version", MERGEWISE_VERSION}, {"papers", std::move(list)}};
}

std::string text_of(const Reproduction& paper) {
  std::string text = fmt::format("{}\n{}\n", paper.title, paper.source);
  for (const Claim& claim : paper.claims) {
    text += fmt::format("\n  {}\n    claimed     {}\n    ours        {}\n    difference  {}\n",
                        claim.what, claim.claimed, claim.ours, claim.difference);
    if (!claim.cause.empty()) text += fmt::format("    cause       {}\n", claim.cause);
  }
  for (const FigureTable& table : paper.tables) {
    if (!table.detail) text += text_of(table);
  }
  if (!paper.assumptions.empty()) text += "\nAssumed:\n";
  for (const std::string& assumption : paper.assumptions) {
    text += fmt::format("  - {}\n", assumption);
  }
  for (const std::string& part : paper.not_run) text += fmt::format("\nNot run: {}\n", part);
  return text;
}

}  // namespace mergewise
