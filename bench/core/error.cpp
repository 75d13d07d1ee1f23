// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"

#include <fmt/format.h>

namespace mergewise::detail {

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw std::logic_error(
      fmt::format("{}:{}: internal check failed: {} ({}). This is a bug in mergewise.", file, line,
                  message, condition));
}

}  // namespace mergewise::detail
