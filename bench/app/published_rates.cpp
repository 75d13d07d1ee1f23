// SPDX-License-Identifier: Apache-2.0
#include "bench/app/published_rates.hpp"

#include "bench/core/error.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>

namespace mergewise {
namespace {

constexpr double kMostRate = 1e15;
constexpr double kMostRanks = 1e6;

struct Field {
  std::string text;
  std::size_t column = 1;  // from 1, in bytes
};

std::vector<Field> split(const std::string& line) {
  std::vector<Field> fields;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] != ',') continue;
    std::size_t first = begin;
    std::size_t last = i;
    while (first < last && std::isspace(static_cast<unsigned char>(line[first])) != 0) ++first;
    while (last > first && std::isspace(static_cast<unsigned char>(line[last - 1])) != 0) --last;
    fields.push_back({line.substr(first, last - first), first + 1});
    begin = i + 1;
  }
  return fields;
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file), stream_(file) {
    if (!stream_) {
      throw InputError(fmt::format("{}: cannot be read, expected a table of published throughputs",
                                   file.string()));
    }
  }

  PublishedTable table() {
    if (!next_line()) fail(1, "the table is empty, expected a line with the names of its columns");
    read_header();
    while (next_line()) read_row();
    for (PublishedRates& entry : table_.cases) {
      const auto found = one_gpu_.find(key_of(entry.model, entry.batch, entry.network));
      if (found != one_gpu_.end()) entry.one_gpu = found->second;
    }
    return std::move(table_);
  }

 private:
  [[noreturn]] void fail(std::size_t column, const std::string& message) const {
    throw InputError(fmt::format("{}:{}:{}: {}", file_.string(), line_, column, message));
  }

  bool next_line() {
    std::string text;
    while (std::getline(stream_, text)) {
      ++line_;
      fields_ = split(text);
      if (fields_.size() > 1 || !fields_.front().text.empty()) return true;
    }
    return false;
  }

  void read_header() {
    static const std::vector<std::string> kNames{"model", "batch_size", "method",        "network",
                                                 "gpus",  "nodes",      "samples_per_s", "stddev"};
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const Field& field = fields_[i];
      if (std::find(kNames.begin(), kNames.end(), field.text) == kNames.end()) {
        fail(field.column, unknown_name("column", excerpt(field.text), kNames));
      }
      if (!columns_.emplace(field.text == "nodes" ? "gpus" : field.text, i).second) {
        fail(field.column, fmt::format("column '{}' is there already", field.text));
      }
    }
    for (const char* name : {"model", "batch_size", "method", "gpus", "samples_per_s"}) {
      if (columns_.count(name) == 0) fail(1, fmt::format("column '{}' is missing", name));
    }
    count_ = fields_.size();
  }

  const Field* field(const char* name) const {
    const auto found = columns_.find(name);
    return found == columns_.end() ? nullptr : &fields_[found->second];
  }

  double number(const Field& field, double minimum, double maximum, bool whole) const {
    double value = 0;
    const char* end = field.text.data() + field.text.size();
    const auto [stop, error] = std::from_chars(field.text.data(), end, value);
    if (error != std::errc() || stop != end || !(value >= minimum && value <= maximum) ||
        (whole && value != std::floor(value))) {
      fail(field.column, fmt::format("'{}', expected a{} number from {} to {}", excerpt(field.text),
                                     whole ? " whole" : "", minimum, maximum));
    }
    return value;
  }

  static std::string key_of(const std::string& model, std::int64_t batch,
                            const std::string& network) {
    return fmt::format("{}\n{}\n{}", model, batch, network);
  }

  PublishedRates& entry(const std::string& model, std::int64_t batch, const std::string& network,
                        int gpus) {
    for (PublishedRates& entry : table_.cases) {
      if (entry.model == model && entry.batch == batch && entry.network == network &&
          entry.gpus == gpus) {
        return entry;
      }
    }
    PublishedRates fresh;
    fresh.model = model;
    fresh.batch = batch;
    fresh.network = network;
    fresh.gpus = gpus;
    table_.cases.push_back(fresh);
    return table_.cases.back();
  }

  void read_row() {
    if (fields_.size() != count_) {
      fail(1, fmt::format("the line has {} fields, expected {}", fields_.size(), count_));
    }
    const std::string& model = field("model")->text;
    if (model.empty()) fail(field("model")->column, "the model has no name");
    const auto batch = static_cast<std::int64_t>(number(*field("batch_size"), 1, 1 << 20, true));
    const std::string network = field("network") == nullptr ? "" : field("network")->text;
    const auto gpus = static_cast<int>(number(*field("gpus"), 1, kMostRanks, true));
    PublishedRates::Rate rate{number(*field("samples_per_s"), 1e-9, kMostRate, false), {}};
    const Field* deviation = field("stddev");
    if (deviation != nullptr && !deviation->text.empty()) {
      rate.stddev = number(*deviation, 0, kMostRate, false);
    }
    const Field& method = *field("method");
    if (gpus == 1) {  // one GPU does not communicate: any method's row will do
      one_gpu_.emplace(key_of(model, batch, network), rate.samples_per_s);
      note_method(method.text);
      return;
    }
    PublishedRates& place = entry(model, batch, network, gpus);
    std::optional<PublishedRates::Rate>* rate_of = note_method(method.text, &place);
    if (rate_of == nullptr) return;
    if (rate_of->has_value()) {
      fail(method.column, fmt::format("there is a row of '{}' for this network and number of GPUs "
                                      "already",
                                      method.text));
    }
    *rate_of = rate;
  }

  // Where a method's rate belongs; null for a method that is not modelled, which is noted.
  std::optional<PublishedRates::Rate>* note_method(const std::string& method,
                                                   PublishedRates* place = nullptr) {
    static const std::map<std::string, std::optional<PublishedRates::Rate> PublishedRates::*>
        kMethods{{"single", &PublishedRates::single},   {"BSP-A2A", &PublishedRates::single},
                 {"wfbp", &PublishedRates::wfbp},       {"WFBP-A2A", &PublishedRates::wfbp},
                 {"mg_wfbp", &PublishedRates::mg_wfbp}, {"MG-WFBP", &PublishedRates::mg_wfbp}};
    const auto found = kMethods.find(method);
    if (found != kMethods.end()) return place == nullptr ? nullptr : &(place->*found->second);
    auto& others = table_.other_methods;
    if (std::find(others.begin(), others.end(), method) == others.end()) others.push_back(method);
    return nullptr;
  }

  std::filesystem::path file_;
  std::ifstream stream_;
  std::size_t line_ = 0;
  std::size_t count_ = 0;  // of columns
  std::vector<Field> fields_;
  std::map<std::string, std::size_t> columns_;
  std::map<std::string, double> one_gpu_;
  PublishedTable table_;
};

std::string letters_of(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

}  // namespace

PublishedTable load_published_rates(const std::filesystem::path& file) {
  return Reader(file).table();
}

std::optional<std::string> model_id_of(const std::string& published,
                                       const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (letters_of(id) == letters_of(published)) return id;
  }
  return std::nullopt;
}

}  // namespace mergewise
