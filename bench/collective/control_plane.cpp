// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/control_plane.hpp"

#include "bench/collective/meeting.hpp"
#include "bench/collective/star_control_plane.hpp"
#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace mergewise {
namespace {

/// A single rank: everything is known at once and nobody else can fail.
class LocalControlPlane : public ControlPlane {
 public:
  explicit LocalControlPlane(std::string address) : address_(std::move(address)) {}

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::string local_address() const override { return address_; }
  [[nodiscard]] bool single_host() const override { return true; }

  void barrier() override {}
  std::vector<std::string> all_gather(std::string_view mine) override {
    return {std::string(mine)};
  }
  std::string broadcast(std::string_view mine) override { return std::string(mine); }
  void set(const std::string& key, std::string_view value) override { store_[key] = value; }
  std::string get(const std::string& key) override {
    const auto found = store_.find(key);
    if (found != store_.end()) return found->second;
    throw BackendError(fmt::format("no rank published '{}', and there is no other rank", key));
  }
  void set_phase(std::string_view) override {}
  void set_group(std::int64_t) override {}
  std::string report_failure(const std::string& message) override { return message; }
  ClockSample sample_clock() override { return {now(), 0, 0}; }

 private:
  std::string address_;
  std::map<std::string, std::string> store_;
};

}  // namespace

std::string ControlPlane::numbered(const std::string& prefix) {
  return fmt::format("{}/{}", prefix, numbers_[prefix]++);
}

std::unique_ptr<ControlPlane> ControlPlane::connect(const RankIdentity& identity,
                                                    const Rendezvous& rendezvous,
                                                    const NetworkOptions& network,
                                                    FailureHandler on_failure) {
  if (identity.size == 1) {
    const auto own = detail::own_endpoint(network);
    return std::make_unique<LocalControlPlane>(own ? own->host() : "127.0.0.1");
  }
  if (identity.rank != 0) {
    detail::Membership membership = detail::join_rank0(identity, rendezvous, network);
    return std::make_unique<detail::StarControlPlane>(identity, std::move(membership.channel),
                                                      membership.welcome, network.deadline_ns,
                                                      std::move(on_failure), nullptr);
  }
  detail::Gathering gathering = detail::gather_ranks(identity, rendezvous, network);
  auto [mine, hubs] = detail::socket_pair();
  gathering.channels[0] = detail::Channel(std::move(hubs), detail::Channel::kLimit);
  auto hub = std::make_unique<detail::Hub>(std::move(gathering.channels), network.deadline_ns);
  return std::make_unique<detail::StarControlPlane>(
      identity, detail::Channel(std::move(mine), detail::Channel::kLimit),
      detail::Welcome{gathering.single_host, gathering.address}, network.deadline_ns,
      std::move(on_failure), std::move(hub));
}

}  // namespace mergewise
