// SPDX-License-Identifier: Apache-2.0
#include "bench/config/document.hpp"
#include "bench/core/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace mergewise {
namespace {

constexpr Bytes kMaxYamlBytes = Bytes{8} << 20;

[[noreturn]] void refuse_size(const std::string& name, const ParseLimits& limits) {
  throw InputError(
      fmt::format("{}: the file is larger than {}, the most that is read here; make it smaller",
                  name, human_bytes(limits.max_bytes)));
}

}  // namespace

// Reads no more than a piece over the limit, so that a device or a huge file costs nothing.
std::string read_file(const std::filesystem::path& file, const ParseLimits& limits) {
  const std::string name = file.string();
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw InputError(fmt::format("{}: this is a directory, expected a file", name));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw InputError(fmt::format("{}: cannot open the file: {}", name, std::strerror(errno)));
  }
  std::string text;
  std::error_code no_size;  // a pipe has none
  if (const auto size = std::filesystem::file_size(file, no_size); !no_size) {
    if (size > static_cast<std::uintmax_t>(limits.max_bytes)) refuse_size(name, limits);
    text.reserve(size);
  }
  std::array<char, 1 << 16> piece{};
  while (stream.read(piece.data(), piece.size()) || stream.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
    if (static_cast<Bytes>(text.size()) > limits.max_bytes) refuse_size(name, limits);
  }
  if (stream.bad()) {
    throw InputError(fmt::format("{}: cannot read the file: {}", name, std::strerror(errno)));
  }
  return text;
}

Node parse_file(const std::filesystem::path& file, const ParseLimits& limits) {
  return parse_text(read_file(file, limits), file.string(), limits);
}

Node parse_text(std::string_view text, const std::string& name, const ParseLimits& limits) {
  if (static_cast<Bytes>(text.size()) > limits.max_bytes) refuse_size(name, limits);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  const bool json_only = name.ends_with(".json");
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const char first = start == std::string_view::npos ? '\0' : text[start];
  if (json_only || first == '{' || first == '[') {
    auto json = detail::read_json(text, name, limits.max_depth);
    if (auto* node = std::get_if<Node>(&json)) return std::move(*node);
    // Flow-style YAML begins like JSON.
    const auto& error = std::get<detail::JsonSyntaxError>(json);
    const bool large = static_cast<Bytes>(text.size()) > kMaxYamlBytes;
    if (json_only || large) detail::fail_at(name, error.place, excerpt(error.message, 300));
  }
  if (static_cast<Bytes>(text.size()) > kMaxYamlBytes) {
    throw InputError(fmt::format("{}: YAML is read up to {} only; write this file as JSON", name,
                                 human_bytes(kMaxYamlBytes)));
  }
  return detail::read_yaml(text, name, limits.max_depth);
}

}  // namespace mergewise
