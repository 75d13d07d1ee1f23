// SPDX-License-Identifier: Apache-2.0
#include "bench/app/utc_now.hpp"

#include <ctime>

namespace mergewise {

std::string utc_now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  (void)std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace mergewise
