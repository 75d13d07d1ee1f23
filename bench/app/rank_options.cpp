// SPDX-License-Identifier: Apache-2.0
#include "bench/app/rank_options.hpp"

#include "bench/app/launcher.hpp"
#include "bench/app/stop_signals.hpp"
#include "bench/config/run_config.hpp"
#include "bench/core/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>

namespace mergewise {
namespace {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace

void add_rank_options(CLI::App& command, RankArguments& arguments, const std::string& ranks_help) {
  command.add_option("--ranks", arguments.ranks, ranks_help)->check(CLI::Range(1, 1024));
  command.add_option(
      "--deadline", arguments.deadline,
      "How long a rank may be silent before it counts as failed (default: the config's, "
      "else 60s)");
  constexpr const char* kLauncher = "Started by hand or by a launcher, one process per rank";
  command.add_option("--rank", arguments.identity.rank, "This process's rank (default: RANK, ...)")
      ->group(kLauncher);
  command
      .add_option("--world-size", arguments.identity.world_size,
                  "How many ranks there are (default: WORLD_SIZE, Open MPI's, PMI's or Slurm's)")
      ->group(kLauncher);
  command.add_option("--local-rank", arguments.identity.local_rank, "The rank on this host")
      ->group(kLauncher);
  command
      .add_option("--rendezvous", arguments.rendezvous,
                  "Where ranks meet: file:DIR or tcp:HOST:PORT (default: MASTER_ADDR, MASTER_PORT)")
      ->group(kLauncher);
  command.add_option("--interface", arguments.interface, "Network interface to use, e.g. eth0")
      ->group(kLauncher);
  command.add_option("--address", arguments.address, "Own address to use instead of an interface")
      ->group(kLauncher);
}

RankIdentity identity_of(const RankArguments& arguments) {
  RankIdentity identity = find_identity(arguments.identity, environment_variable);
  if (arguments.ranks && !is_alone(identity)) {
    throw InputError(fmt::format(
        "--ranks {} starts local ranks itself, but this process already is rank {} of {} (by {}): "
        "leave --ranks out under a launcher",
        *arguments.ranks, identity.rank, identity.size, identity.source));
  }
  return identity;
}

bool is_alone(const RankIdentity& identity) { return identity.source == "alone"; }

Rendezvous rendezvous_of(const RankArguments& arguments, const RankIdentity& identity) {
  if (!arguments.rendezvous.empty()) return parse_rendezvous(arguments.rendezvous);
  const auto host = environment_variable("MASTER_ADDR");
  const auto port = environment_variable("MASTER_PORT");
  if (host && port) return parse_rendezvous(fmt::format("tcp:{}:{}", *host, *port));
  if (identity.size == 1) return {};
  throw InputError(fmt::format(
      "this is rank {} of {} (by {}), but nothing says where the ranks meet: give --rendezvous "
      "file:DIR (a directory all of them see) or tcp:HOST:PORT, or set MASTER_ADDR and MASTER_PORT",
      identity.rank, identity.size, identity.source));
}

NetworkOptions network_of(const RankArguments& arguments, Nanoseconds deadline_ns) {
  if (!arguments.deadline.empty()) deadline_ns = parse_duration(arguments.deadline);
  return {arguments.interface, arguments.address, deadline_ns};
}

bool become_rank() {
  const bool local = std::getenv(kLocalRankVariable) != nullptr;
  if (local) prctl(PR_SET_PDEATHSIG, SIGTERM);
  install_stop_signals();
  return local;
}

}  // namespace mergewise
