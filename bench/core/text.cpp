// SPDX-License-Identifier: Apache-2.0
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace mergewise {
namespace {

// Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string join(std::span<const std::string> words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string excerpt(std::string_view text, std::size_t most) {
  const bool cut = text.size() > most;
  if (cut) {
    text = text.substr(0, most);
    // Not in the middle of a UTF-8 character: drop its head and what follows.
    std::size_t end = text.size();
    while (end > 0 && (static_cast<unsigned char>(text[end - 1]) & 0xC0U) == 0x80U) --end;
    if (end > 0 && static_cast<unsigned char>(text[end - 1]) >= 0xC0U) --end;
    text = text.substr(0, end);
  }
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      shown += "\\n";
    } else if (c == '\t') {
      shown += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return cut ? shown + "..." : shown;
}

std::string nearest(std::string_view word, std::span<const std::string> choices) {
  constexpr std::size_t kLongest = 100;  // nobody mistypes more, and the distance costs the product
  if (word.size() > kLongest) return "";
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 2) + 1;
  for (const std::string& choice : choices) {
    const std::size_t distance = edit_distance(word, choice);
    if (distance < best_distance) {
      best = choice;
      best_distance = distance;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind, std::string_view word,
                         std::span<const std::string> choices) {
  const std::string hint = nearest(word, choices);
  return fmt::format("unknown {} '{}'{} Valid: {}", kind, excerpt(word),
                     hint.empty() ? "." : fmt::format(", did you mean '{}'?", hint), join(choices));
}

}  // namespace mergewise
