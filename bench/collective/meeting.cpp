// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/meeting.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

namespace mergewise::detail {

std::optional<Endpoint> own_endpoint(const NetworkOptions& network) {
  if (!network.interface.empty()) return interface_endpoint(network.interface, 0);
  if (network.address.empty()) return std::nullopt;
  Endpoint endpoint;
  try {
    endpoint = resolve(network.address, 0).front();
  } catch (const BackendError& error) {
    throw InputError(fmt::format("--address {}: {}", network.address, error.what()));
  }
  if (endpoint.loopback() && !is_literal(network.address)) {
    throw InputError(
        fmt::format("the host name '{}' stands for {} here, which no other host can "
                    "reach: give an address as numbers, or --interface NAME",
                    network.address, endpoint.host()));
  }
  return endpoint;
}

std::string describe(const Rendezvous& rendezvous) {
  if (rendezvous.kind == Rendezvous::Kind::kFile) return "file:" + rendezvous.directory;
  const bool numbers6 = rendezvous.host.find(':') != std::string::npos;
  return fmt::format("tcp:{}:{}", numbers6 ? "[" + rendezvous.host + "]" : rendezvous.host,
                     rendezvous.port);
}

std::string name_ranks(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  std::string text = "ranks";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    text += i == 0 ? " " : i + 1 == ranks.size() ? " and " : ", ";
    text += fmt::format("{}", ranks[i]);
  }
  return text;
}

}  // namespace mergewise::detail
