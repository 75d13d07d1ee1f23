// SPDX-License-Identifier: Apache-2.0
#include "bench/app/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace mergewise {
namespace {

std::size_t terminal_width() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20;
  return known ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(bool enabled) : enabled_(enabled), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::show(const std::string& where, const std::string& detail, Nanoseconds time_left) {
  if (!enabled_) return;
  const std::string left =
      time_left > 0 ? fmt::format(", at most {:.0f} s left", time_left / 1e9) : std::string();
  if (terminal_) {
    std::string line = fmt::format("{}{}{}{}", where, left, detail.empty() ? "" : "  ", detail);
    line = line.substr(0, terminal_width() - 1);
    fmt::print(stderr, "\r\x1b[K{}", line);
    open_line_ = true;
  } else if (where != last_where_) {
    fmt::print(stderr, "{}{}{}{}\n", where, left, detail.empty() ? "" : "  ", detail);
  }
  std::fflush(stderr);
  last_where_ = where;
}

void Progress::end_line() {
  if (open_line_) fmt::print(stderr, "\n");
  open_line_ = false;
}

}  // namespace mergewise
