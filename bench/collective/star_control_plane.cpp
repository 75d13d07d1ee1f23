// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/star_control_plane.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>

namespace mergewise::detail {
namespace {

constexpr int kClockRounds = 50;
constexpr Stamp kFarewellLimit = 1'000'000'000;

}  // namespace

StarControlPlane::StarControlPlane(const RankIdentity& identity, Channel channel, Welcome welcome,
                                   Nanoseconds deadline_ns, FailureHandler on_failure,
                                   std::unique_ptr<Hub> hub)
    : rank_(identity.rank),
      size_(identity.size),
      welcome_(std::move(welcome)),
      patience_(deadline_ns),
      on_failure_(std::move(on_failure)),
      heard_(now()),
      last_turn_(heard_),
      channel_(std::move(channel)),
      hub_(std::move(hub)) {
  thread_ = quiet_thread(
      "mw-control", [](void* self) { static_cast<StarControlPlane*>(self)->run(); }, this);
}

StarControlPlane::~StarControlPlane() {
  stopping_ = true;
  waker_.wake();
  thread_.join();
  channel_.close();  // The hub, which is destroyed next, waits for the end of its channels.
}

// --- The thread.

void StarControlPlane::run() {
  while (!stopping_) {
    wait_for_messages();
    const Stamp at = now();
    // This process was itself stopped for a while: rank 0's silence says nothing.
    if (at - last_turn_ > patience_.stall / 2) heard_ = at;
    last_turn_ = at;
    if (!take_in()) return;
    if (at - last_heartbeat_ >= patience_.heartbeat) {
      last_heartbeat_ = at;
      send_status();
    }
    if (at - heard_ > patience_.stall) {
      return fail(stalled_verdict({0}, at - heard_, status()));
    }
  }
  send(MessageKind::kGoodbye, {});
  close_politely({&channel_}, now() + kFarewellLimit);
}

void StarControlPlane::wait_for_messages() {
  std::vector<pollfd> fds{{waker_.fd(), POLLIN, 0}, {channel_.fd(), POLLIN, 0}};
  {
    const std::lock_guard lock(mutex_);
    if (channel_.sending()) fds[1].events = POLLIN | POLLOUT;
  }
  poll_until(fds, last_heartbeat_ + patience_.heartbeat);
  waker_.clear();
  const std::lock_guard lock(mutex_);
  channel_.flush();
}

bool StarControlPlane::take_in() {
  const bool open = channel_.receive();
  const Stamp at = now();
  try {
    while (const auto message = channel_.next()) {
      heard_ = at;
      if (!handle(*message, at)) return false;
    }
  } catch (const BackendError& error) {
    fail(error.what());
    return false;
  }
  if (!open) fail(died_verdict({0}, status()));
  return open;
}

bool StarControlPlane::handle(const Message& message, Stamp at) {
  switch (message.kind) {
    case MessageKind::kStatus:
      return true;
    case MessageKind::kStatusRequest:
      send_status();
      return true;
    case MessageKind::kReply: {
      Reply reply = Reply::decode(message.body);
      const std::lock_guard lock(mutex_);
      const std::int64_t id = reply.id;
      answers_[id] = {std::move(reply), at};
      changed_.notify_all();
      return true;
    }
    case MessageKind::kVerdict:
      send(MessageKind::kVerdictSeen, {});
      fail(message.body);
      return false;
    case MessageKind::kGoodbye: {
      const std::lock_guard lock(mutex_);
      rank0_left_ = true;
      channel_.close();
      changed_.notify_all();
      return false;
    }
    default:
      throw BackendError(
          fmt::format("rank 0 sent a message of unknown kind {}", static_cast<int>(message.kind)));
  }
}

void StarControlPlane::send_status() { send(MessageKind::kStatus, status().encode()); }

void StarControlPlane::fail(const std::string& verdict) {
  {
    const std::lock_guard lock(mutex_);
    verdict_ = verdict;
    changed_.notify_all();
  }
  if (on_failure_) on_failure_(verdict);
}

// --- The caller's thread.

void StarControlPlane::send(MessageKind kind, std::string_view body) {
  bool left = false;
  {
    const std::lock_guard lock(mutex_);
    channel_.send(kind, body);
    left = channel_.sending();
  }
  if (left) waker_.wake();  // The thread sends the rest as the socket takes it.
}

StarControlPlane::Answer StarControlPlane::await(std::int64_t id) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return answers_.contains(id) || !verdict_.empty() || rank0_left_; });
  const auto found = answers_.find(id);
  if (found != answers_.end()) {
    Answer answer = std::move(found->second);
    answers_.erase(found);
    if (answer.reply.failed) throw BackendError(answer.reply.body);
    return answer;
  }
  if (!verdict_.empty()) throw BackendError(verdict_);
  throw BackendError(fmt::format(
      "rank 0 left before rank {} was done: look at rank 0's own output for the reason", rank_));
}

std::int64_t StarControlPlane::new_id() {
  const std::lock_guard lock(mutex_);
  return next_id_++;
}

std::string StarControlPlane::exchange(CallKind kind, std::string_view body) {
  const std::size_t limit = Channel::kLimit / static_cast<std::size_t>(size_) - 64;
  if (body.size() > limit) {
    throw BackendError(fmt::format("{} bytes are too many for {} between {} ranks (limit {})",
                                   body.size(), to_string(kind), size_, limit));
  }
  const Call call{new_id(), next_sequence_++, kind, std::string(body)};
  send(MessageKind::kCall, call.encode());
  return await(call.id).reply.body;
}

void StarControlPlane::barrier() { exchange(CallKind::kBarrier, {}); }

std::string StarControlPlane::broadcast(std::string_view mine) {
  return exchange(CallKind::kBroadcast, rank_ == 0 ? mine : std::string_view{});
}

std::vector<std::string> StarControlPlane::all_gather(std::string_view mine) {
  const std::string all = exchange(CallKind::kAllGather, mine);
  Reader reader(all);
  std::vector<std::string> parts;
  for (int rank = 0; rank < size_; ++rank) parts.push_back(reader.text());
  return parts;
}

void StarControlPlane::set(const std::string& key, std::string_view value) {
  send(MessageKind::kSet, Writer().text(key).text(value).take());
}

std::string StarControlPlane::get(const std::string& key) {
  const std::int64_t id = new_id();
  send(MessageKind::kGet, Writer().number(id).text(key).take());
  return await(id).reply.body;
}

std::string StarControlPlane::report_failure(const std::string& message) {
  send(MessageKind::kReport, message);
  const Stamp limit = patience_.grace + patience_.window + patience_.telling + patience_.grace;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::nanoseconds(limit),
                    [&] { return !verdict_.empty() || rank0_left_; });
  return verdict_.empty() ? report_verdict(rank_, message, {}) : verdict_;
}

ClockSample StarControlPlane::sample_clock() {
  if (rank_ == 0) return {now(), 0, 0};
  ClockSample best;
  Stamp least = 0;
  for (int round = 0; round < kClockRounds; ++round) {
    const std::int64_t id = new_id();
    const Stamp sent = now();
    send(MessageKind::kPing, Writer().number(id).take());
    const Answer answer = await(id);
    const Stamp trip = answer.arrived - sent;
    if (round > 0 && trip >= least) continue;
    least = trip;
    const Stamp theirs = Reader(answer.reply.body).number();
    const Stamp middle = sent + trip / 2;
    best = {middle, static_cast<Nanoseconds>(middle - theirs), static_cast<Nanoseconds>(trip) / 2};
  }
  return best;
}

}  // namespace mergewise::detail
