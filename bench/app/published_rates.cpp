// SPDX-License-Identifier: Apache-2.0
#include "bench/app/published_rates.hpp"

#include "bench/config/node.hpp"
#include "bench/core/error.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

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

struct Modelled {
  const char* id;
  const char* published;  // by ddl-benchmarks
  std::optional<PublishedRates::Rate> PublishedRates::*rate;
};
// In the order in which their rows of one GPU are preferred.
constexpr std::array<Modelled, 3> kModelled{{{"single", "BSP-A2A", &PublishedRates::single},
                                             {"wfbp", "WFBP-A2A", &PublishedRates::wfbp},
                                             {"mg_wfbp", "MG-WFBP", &PublishedRates::mg_wfbp}}};

// Its place among them; their number for a method that is not modelled.
std::size_t rank_of(const std::string& method) {
  const auto found =
      std::find_if(kModelled.begin(), kModelled.end(), [&](const Modelled& modelled) {
        return method == modelled.id || method == modelled.published;
      });
  return static_cast<std::size_t>(found - kModelled.begin());
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file)
      : file_(file), stream_(without_mark(read_file(file, kDataLimits))) {}

  PublishedTable table() {
    if (!next_line()) fail(1, "the table is empty, expected a line with the names of its columns");
    read_header();
    while (next_line()) read_row();
    for (PublishedRates& entry : table_.cases) take_one_gpu(entry);
    return std::move(table_);
  }

 private:
  // The best row of one GPU on an interconnect.
  struct Alone {
    std::string method;  // as the table writes it
    std::size_t rank = kModelled.size();
    double samples_per_s = 0;
  };
  // Those of a network and batch size, and which of them the other interconnects take: the first in
  // the table that is of a modelled method, else the first.
  struct Alones {
    std::map<std::string, Alone> by_network;
    std::string first;
  };

  static std::string without_mark(std::string text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // byte order mark
    return text;
  }

  [[noreturn]] void fail(std::size_t column, const std::string& message) const {
    throw InputError(fmt::format("{}:{}:{}: {}", file_.string(), line_, column, message));
  }

  bool next_line() {
    std::string text;
    while (std::getline(stream_, text)) {
      ++line_;
      check_utf8(text);
      fields_ = split(text);
      if (fields_.size() > 1 || !fields_.front().text.empty()) return true;
    }
    return false;
  }

  void check_utf8(std::string_view text) const {
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t length = utf8_length(text.substr(i));
      if (length == 0) fail(i + 1, "this is no UTF-8, expected a file in that encoding");
      i += length;
    }
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

  PublishedRates& entry(const std::string& model, std::int64_t batch, const std::string& network,
                        int gpus) {
    const auto [found, is_new] =
        entries_.try_emplace(std::tuple(model, batch, network, gpus), table_.cases.size());
    if (is_new) {
      PublishedRates fresh;
      fresh.model = model;
      fresh.batch = batch;
      fresh.network = network;
      fresh.gpus = gpus;
      table_.cases.push_back(std::move(fresh));
    }
    return table_.cases[found->second];
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
    const std::size_t rank = rank_of(method.text);
    const bool modelled = rank < kModelled.size();
    const std::string name = modelled ? kModelled[rank].id : method.text;
    if (!rows_.emplace(model, batch, network, gpus, name).second) {
      fail(method.column, fmt::format("there is a row of '{}' for this network, interconnect and "
                                      "number of GPUs already",
                                      excerpt(method.text)));
    }
    if (!modelled && methods_.insert(method.text).second) {
      table_.other_methods.push_back(method.text);
    }
    if (gpus == 1) {
      note_alone(alones_[{model, batch}], network, {method.text, rank, rate.samples_per_s});
    } else if (modelled) {
      entry(model, batch, network, gpus).*kModelled[rank].rate = rate;
    }
  }

  static void note_alone(Alones& alones, const std::string& network, const Alone& row) {
    const bool modelled = row.rank < kModelled.size();
    const auto first = alones.by_network.find(alones.first);
    if (first == alones.by_network.end() ||
        (modelled && !(first->second.rank < kModelled.size()))) {
      alones.first = network;
    }
    const auto [place, is_new] = alones.by_network.try_emplace(network, row);
    if (!is_new && row.rank < place->second.rank) place->second = row;
  }

  // One GPU does not communicate: what it does on another interconnect, it does on this one.
  void take_one_gpu(PublishedRates& entry) const {
    const auto found = alones_.find({entry.model, entry.batch});
    if (found == alones_.end()) return;
    const auto& by_network = found->second.by_network;
    const auto first = by_network.find(found->second.first);
    auto taken = by_network.find(entry.network);
    const auto other = kModelled.size();
    if (taken == by_network.end() || (taken->second.rank == other && first->second.rank != other)) {
      taken = first;
    }
    entry.one_gpu = taken->second.samples_per_s;
    if (taken->first != entry.network || taken->second.rank == other) {
      entry.one_gpu_from = taken->second.method;
      if (!taken->first.empty()) entry.one_gpu_from += " on " + taken->first;
    }
  }

  std::filesystem::path file_;
  std::istringstream stream_;
  std::size_t line_ = 0;
  std::size_t count_ = 0;  // of columns
  std::vector<Field> fields_;
  std::map<std::string, std::size_t> columns_;
  std::set<std::tuple<std::string, std::int64_t, std::string, int, std::string>> rows_;
  std::map<std::tuple<std::string, std::int64_t, std::string, int>, std::size_t> entries_;
  std::map<std::pair<std::string, std::int64_t>, Alones> alones_;
  std::set<std::string> methods_;  // that are not modelled
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
