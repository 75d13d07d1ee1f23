// SPDX-License-Identifier: Apache-2.0
#include "bench/app/link_option.hpp"

#include "bench/config/run_config.hpp"
#include "bench/core/error.hpp"
#include "bench/core/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>

namespace mergewise {

void add_link_option(CLI::App& command, std::string& link) {
  command.add_option("--link", link,
                     "A_US,GBPS: hold each collective to this emulated link (ranks of one host)");
}

std::optional<LinkModel> parse_link(const std::string& text) {
  if (text.empty()) return std::nullopt;
  using Limits = RunConfig::Link;
  LinkModel link;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, link.a_us);
  if (first.ec == std::errc{} && first.ptr != end && *first.ptr == ',') {
    const auto second = std::from_chars(first.ptr + 1, end, link.gbps);
    const bool sound = second.ec == std::errc{} && second.ptr == end && link.a_us >= 0 &&
                       link.a_us <= Limits::kMostUs && link.gbps >= Limits::kLeastGbps &&
                       link.gbps <= Limits::kMostGbps;
    if (sound) return link;
  }
  throw InputError(fmt::format(
      "--link {}: expected A_US,GBPS, the start-up in microseconds (0 to {}) and the rate in 1e9 "
      "bit/s ({} to {}), such as 50,10",
      excerpt(text), Limits::kMostUs, Limits::kLeastGbps, Limits::kMostGbps));
}

}  // namespace mergewise
