// SPDX-License-Identifier: Apache-2.0
#include "bench/app/link_speed.hpp"

#include "bench/replay/exchange.hpp"
#include "bench/result/text_file.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>

namespace mergewise {
namespace {

std::string text_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN]{};
  if (address->sa_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  } else if (address->sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text,
              sizeof text);
  }
  return text;
}

}  // namespace

std::string interface_of(const std::string& address) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr != nullptr && text_of(entry->ifa_addr) == address) return entry->ifa_name;
  }
  return "";
}

std::optional<double> link_gbps(const std::string& interface, const std::filesystem::path& sys) {
  if (interface.empty()) return std::nullopt;
  const auto megabits = read_number(sys / interface / "speed");  // -1: unknown
  if (!megabits || *megabits <= 0) return std::nullopt;
  return *megabits / 1e3;
}

std::optional<double> slowest_link_gbps(ControlPlane& control, int ranks) {
  std::vector<double> mine;
  if (control.rank() < ranks) {
    if (const auto gbps = link_gbps(interface_of(control.local_address()))) mine = {*gbps};
  }
  std::optional<double> slowest;
  for (const std::string& bytes : control.all_gather(to_bytes(mine))) {
    for (const double gbps : from_bytes<double>(bytes)) {
      slowest = std::min(gbps, slowest.value_or(gbps));
    }
  }
  return slowest;
}

}  // namespace mergewise
