// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/verdict.hpp"

#include "bench/collective/meeting.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise::detail {
namespace {

constexpr Stamp kMillisecond = 1'000'000;
constexpr Stamp kSecond = 1'000'000'000;

std::string waiting_text(CallKind kind, const std::vector<int>& waiting) {
  return fmt::format("{} {} in {}", name_ranks(waiting), waiting.size() == 1 ? "waits" : "wait",
                     to_string(kind));
}

}  // namespace

Patience::Patience(Nanoseconds deadline_ns)
    : deadline(static_cast<Stamp>(deadline_ns)),
      heartbeat(std::clamp(deadline / 20, 50 * kMillisecond, kSecond)),
      stall(std::min(deadline / 2, 15 * kSecond)),
      window(std::min(deadline / 20, 200 * kMillisecond)),
      grace(std::min(deadline / 10, kSecond)),
      telling(std::min(deadline / 10, 500 * kMillisecond)) {}

std::string where_text(const Status& status) {
  std::string text;
  if (!status.phase.empty()) text += fmt::format(" during '{}'", status.phase);
  if (status.group >= 0) text += fmt::format(" while group {} was in flight or next", status.group);
  return text;
}

std::string died_verdict(const std::vector<int>& ranks, const Status& where) {
  const bool one = ranks.size() == 1;
  return fmt::format(
      "{} died ({} closed){}; the other ranks stop. Look at {} own output or the "
      "kernel log for the reason.",
      name_ranks(ranks), one ? "its connection" : "their connections", where_text(where),
      one ? "its" : "their");
}

std::string stalled_verdict(const std::vector<int>& ranks, Stamp silence, const Status& where) {
  return fmt::format(
      "{} stalled (no sign of life for {}){}; the other ranks stop. Was it stopped, "
      "is its host swapping, or is the network down?",
      name_ranks(ranks), human_time(static_cast<Nanoseconds>(silence)), where_text(where));
}

std::string report_verdict(int rank, std::string_view message, const std::vector<int>& left) {
  return fmt::format("rank {} reports: {}{}", rank, message,
                     left.empty() ? "" : fmt::format(" ({} had left before)", name_ranks(left)));
}

std::string absent_verdict(CallKind kind, const std::vector<int>& waiting, Stamp waited,
                           const std::vector<int>& missing, const std::vector<Status>& status) {
  std::string last;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const std::string where = where_text(status[i]);
    last += fmt::format("{}rank {} is alive{}", i == 0 ? "" : ", ", missing[i],
                        where.empty() ? ", its place unknown" : where);
  }
  return fmt::format(
      "{} since {} for {} ({}); all ranks stop. A longer --deadline helps if it "
      "only needs more time.",
      waiting_text(kind, waiting), human_time(static_cast<Nanoseconds>(waited)),
      name_ranks(missing), last);
}

std::string left_verdict(CallKind kind, const std::vector<int>& waiting,
                         const std::vector<int>& left) {
  return fmt::format(
      "{} left before the others ({}); all ranks stop. Look at {} own output for "
      "the reason.",
      name_ranks(left), waiting_text(kind, waiting), left.size() == 1 ? "its" : "their");
}

std::string mismatch_verdict(int one, const Call& first, int other, const Call& second) {
  return fmt::format(
      "the ranks disagree about what comes next: call {} is {} on rank {} but {} on "
      "rank {}; do all run the same build and the same config?",
      first.sequence, to_string(first.kind), one, to_string(second.kind), other);
}

}  // namespace mergewise::detail
