// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/rank.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string_view>

namespace mergewise {
namespace {

using Lookup = std::function<std::optional<std::string>(const std::string&)>;

/// A launcher's variables; the first size variable that is set counts.
struct Launcher {
  const char* rank;
  const char* size;
  const char* local_rank;
};

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

int variable(const char* name, const std::string& text) {
  const auto value = parse_integer(text);
  if (!value || *value < 0 || *value > 1'000'000) {
    throw InputError(
        fmt::format("{}='{}' is not a rank or a number of ranks: expected an integer "
                    "from 0 on; unset it or set it right",
                    name, text));
  }
  return static_cast<int>(*value);
}

RankIdentity checked(RankIdentity identity, std::string_view rank_name,
                     std::string_view size_name) {
  if (identity.size < 1 || identity.rank < 0 || identity.rank >= identity.size) {
    throw InputError(
        fmt::format("{} is {} and {} is {}: a rank is at least 0 and below the number of ranks",
                    rank_name, identity.rank, size_name, identity.size));
  }
  if (identity.local_rank < 0) {
    throw InputError(fmt::format("the local rank of rank {} is {}: a local rank is at least 0",
                                 identity.rank, identity.local_rank));
  }
  return identity;
}

std::optional<RankIdentity> from_flags(const RankFlags& flags) {
  if (!flags.rank && !flags.world_size && !flags.local_rank) return std::nullopt;
  if (!flags.rank || !flags.world_size) {
    throw InputError(fmt::format(
        "{} is given without {}: a rank that is started by hand needs both --rank and --world-size",
        flags.rank         ? "--rank"
        : flags.world_size ? "--world-size"
                           : "--local-rank",
        flags.rank ? "--world-size" : "--rank"));
  }
  return checked({*flags.rank, *flags.world_size, flags.local_rank.value_or(*flags.rank), "flags"},
                 "--rank", "--world-size");
}

std::optional<RankIdentity> from_launcher(const Launcher& launcher, const Lookup& environment) {
  const auto rank = environment(launcher.rank);
  const auto size = environment(launcher.size);
  if (!rank && !size) return std::nullopt;
  if (!rank || !size) {
    throw InputError(fmt::format("{} is set without {}: set both, or unset it",
                                 rank ? launcher.rank : launcher.size,
                                 rank ? launcher.size : launcher.rank));
  }
  RankIdentity identity{variable(launcher.rank, *rank), variable(launcher.size, *size), 0,
                        launcher.rank};
  const auto local = environment(launcher.local_rank);
  identity.local_rank = local ? variable(launcher.local_rank, *local) : identity.rank;
  return checked(identity, launcher.rank, launcher.size);
}

/// Batch scripts and salloc's shells carry SLURM_PROCID=0 too, or run in a step of their own whose
/// number is one of Slurm's reserved ones: neither means that srun started this rank.
bool inside_srun(const Lookup& environment) {
  const auto step = environment("SLURM_STEP_ID");
  if (!step || !environment("SLURM_PROCID")) return false;
  constexpr std::int64_t kFirstReservedStep = 0xfffffff0;
  const auto number = parse_integer(*step);
  return number && *number < kFirstReservedStep;
}

}  // namespace

RankIdentity find_identity(const RankFlags& flags, const Lookup& environment) {
  if (auto identity = from_flags(flags)) return *identity;
  constexpr Launcher kLaunchers[] = {
      {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
  };
  for (const Launcher& launcher : kLaunchers) {
    if (auto identity = from_launcher(launcher, environment)) return *identity;
  }
  if (inside_srun(environment)) {
    // The step's own number of tasks: the job's may be larger.
    const char* size =
        environment("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
    if (auto identity = from_launcher({"SLURM_PROCID", size, "SLURM_LOCALID"}, environment)) {
      return *identity;
    }
  }
  return {0, 1, 0, "alone"};
}

Rendezvous parse_rendezvous(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    return InputError(
        fmt::format("rendezvous '{}': {}. Valid: file:DIR (a directory that all ranks see) or "
                    "tcp:HOST:PORT (rank 0 listens there)",
                    text, why));
  };
  if (text.starts_with("file:")) {
    Rendezvous rendezvous;
    rendezvous.directory = text.substr(5);
    if (rendezvous.directory.empty()) throw refuse("the directory is missing");
    return rendezvous;
  }
  if (!text.starts_with("tcp:")) throw refuse("neither file: nor tcp:");
  const std::string rest = text.substr(4);
  const auto colon = rest.rfind(':');
  if (colon == std::string::npos) throw refuse("the port is missing");
  Rendezvous rendezvous;
  rendezvous.kind = Rendezvous::Kind::kTcp;
  rendezvous.host = rest.substr(0, colon);
  if (rendezvous.host.size() > 2 && rendezvous.host.front() == '[' &&
      rendezvous.host.back() == ']') {
    rendezvous.host = rendezvous.host.substr(1, rendezvous.host.size() - 2);
  } else if (rendezvous.host.find(':') != std::string::npos) {
    throw refuse("an IPv6 address goes in brackets, as in tcp:[::1]:29500");
  }
  if (rendezvous.host.empty()) throw refuse("the host is missing");
  const auto port = parse_integer(std::string_view(rest).substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) throw refuse("the port must be from 1 to 65535");
  rendezvous.port = static_cast<int>(*port);
  return rendezvous;
}

}  // namespace mergewise
