// SPDX-License-Identifier: Apache-2.0
#include "bench/result/text_file.hpp"

#include <charconv>
#include <fstream>
#include <iterator>

namespace mergewise {

std::optional<std::string> read_text(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::optional<std::string> read_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line) || line.empty()) return std::nullopt;
  return line;
}

std::optional<double> read_number(const std::filesystem::path& file) {
  const std::string line = read_line(file).value_or("");
  double value = 0;
  const char* const end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

}  // namespace mergewise
