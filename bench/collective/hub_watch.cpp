// SPDX-License-Identifier: Apache-2.0
// The hub's judgement: who is lost, who is silent, who keeps the others waiting, and how all are
// told.
#include "bench/collective/hub.hpp"

#include <algorithm>

namespace mergewise::detail {

std::vector<int> Hub::ranks_where(bool (*condition)(const Member&)) const {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    if (condition(members_[rank])) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

std::vector<int> Hub::silent(Stamp at) const {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    const Member& member = members_[rank];
    if (member.here() && at - member.heard > patience_.stall)
      ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

void Hub::suspect(Stamp judge_at) {
  if (!verdict_.empty()) return;
  judge_at_ = std::min(judge_at_.value_or(judge_at), judge_at);
  send_all(MessageKind::kStatusRequest, {});
}

void Hub::watch(Stamp at) {
  if (!verdict_.empty()) return;
  if (!judge_at_) {
    if (!silent(at).empty()) suspect(at + patience_.window);
    watch_calls(at);
    return;
  }
  if (at < *judge_at_) return;
  judge_at_.reset();
  if (const auto sentence = finding(at)) judge(*sentence);
}

void Hub::watch_calls(Stamp at) {
  if (!calls_since_) return;
  const auto waiting = ranks_where([](const Member& member) { return member.call.has_value(); });
  const auto left = ranks_where([](const Member& member) { return member.left && !member.call; });
  const CallKind kind = members_[static_cast<std::size_t>(waiting.front())].call->kind;
  if (!left.empty()) return judge(left_verdict(kind, waiting, left));
  if (at - *calls_since_ < patience_.deadline) return;
  const auto missing = ranks_where([](const Member& member) { return !member.call; });
  std::vector<Status> status;
  for (int rank : missing) status.push_back(members_[static_cast<std::size_t>(rank)].status);
  judge(absent_verdict(kind, waiting, at - *calls_since_, missing, status));
}

std::optional<std::string> Hub::finding(Stamp at) const {
  const auto lost = ranks_where([](const Member& member) { return member.lost; });
  if (!lost.empty()) return died_verdict(lost, place_of(lost));
  const auto stalled = silent(at);
  if (!stalled.empty()) {
    const Stamp silence = at - members_[static_cast<std::size_t>(stalled.front())].heard;
    return stalled_verdict(stalled, silence, place_of(stalled));
  }
  // Silence that ended within the window is none.
  if (reports_.empty()) return std::nullopt;
  const auto left = ranks_where([](const Member& member) { return member.left; });
  return report_verdict(reports_.front().first, reports_.front().second, left);
}

/// Where the run was. The survivors have just said where they are, and those furthest behind hang
/// in the very group that the failed rank was in; outside of groups their phase is its phase. What
/// the failed rank said last is older, and counts only when no survivor knows.
Status Hub::place_of(const std::vector<int>& ranks) const {
  const Member* best = nullptr;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    const Member& member = members_[rank];
    const bool failed =
        std::find(ranks.begin(), ranks.end(), static_cast<int>(rank)) != ranks.end();
    if (failed || !member.here()) continue;
    const std::int64_t group = member.status.group;
    const bool known = group >= 0 || !member.status.phase.empty();
    if (best == nullptr ? known
                        : group >= 0 && (best->status.group < 0 || group < best->status.group)) {
      best = &member;
    }
  }
  return best != nullptr ? best->status : members_[static_cast<std::size_t>(ranks.front())].status;
}

void Hub::judge(const std::string& verdict) {
  if (!verdict_.empty()) return;
  verdict_ = verdict;
  judge_at_.reset();
  send_all(MessageKind::kVerdict, verdict_, 1);
  tell_rank0_at_ = now() + patience_.telling;
}

/// Rank 0 is told last: its process may end at once, and must not take the verdict with it before
/// the others have read it.
void Hub::tell_rank0(Stamp at) {
  if (tell_rank0_at_ == 0) return;
  const bool all_know = std::all_of(members_.begin() + 1, members_.end(), [](const Member& member) {
    return member.told || !member.here();
  });
  if (!all_know && at < tell_rank0_at_) return;
  tell_rank0_at_ = 0;
  members_[0].channel.send(MessageKind::kVerdict, verdict_);
}

}  // namespace mergewise::detail
