// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/hub.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>

namespace mergewise::detail {
namespace {

constexpr Stamp kFarewellLimit = 1'000'000'000;

}  // namespace

std::thread quiet_thread(const char* name, void (*body)(void*), void* argument) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // Inherited by the new thread.
  std::thread thread(body, argument);
  pthread_setname_np(thread.native_handle(), name);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

Hub::Hub(std::vector<Channel> channels, Nanoseconds deadline_ns) : patience_(deadline_ns) {
  last_turn_ = now();
  for (Channel& channel : channels) {
    Member member;
    member.channel = std::move(channel);
    member.heard = last_turn_;
    members_.push_back(std::move(member));
  }
  thread_ = quiet_thread(
      "mw-hub", [](void* hub) { static_cast<Hub*>(hub)->run(); }, this);
}

Hub::~Hub() {
  stopping_ = true;
  waker_.wake();
  thread_.join();
}

void Hub::run() {
  while (!stopping_) {
    wait_for_messages();
    const Stamp at = now();
    // This process was itself stopped for a while: the others' silence says nothing.
    if (at - last_turn_ > patience_.stall / 2) {
      for (Member& member : members_) member.heard = at;
    }
    last_turn_ = at;
    for (int rank = 0; rank < static_cast<int>(members_.size()); ++rank) read(rank);
    if (at - last_heartbeat_ >= patience_.heartbeat) {
      last_heartbeat_ = at;
      send_all(MessageKind::kStatus, {});
    }
    answer_gets(at);
    watch(at);
    tell_rank0(at);
  }
  leave();
}

void Hub::wait_for_messages() {
  std::vector<pollfd> fds{{waker_.fd(), POLLIN, 0}};
  for (const Member& member : members_) {
    if (!member.channel.open()) continue;
    const short wanted = member.channel.sending() ? POLLIN | POLLOUT : POLLIN;
    fds.push_back({member.channel.fd(), wanted, 0});
  }
  Stamp until = last_heartbeat_ + patience_.heartbeat;
  if (judge_at_) until = std::min(until, *judge_at_);
  if (tell_rank0_at_ != 0) until = std::min(until, tell_rank0_at_);
  poll_until(fds, until);
  waker_.clear();
}

void Hub::read(int rank) {
  Member& member = members_[static_cast<std::size_t>(rank)];
  if (!member.channel.open()) return;
  member.channel.flush();
  bool open = member.channel.receive();
  try {
    while (member.channel.open()) {
      const auto message = member.channel.next();
      if (!message) break;
      member.heard = now();
      handle(rank, *message, member.heard);
    }
  } catch (const BackendError&) {
    open = false;  // It speaks nonsense: as good as lost.
  }
  if (open || !member.channel.open()) return;
  member.channel.close();
  member.lost = true;
  suspect(now() + patience_.window);
}

void Hub::handle(int rank, const Message& message, Stamp at) {
  Member& member = members_[static_cast<std::size_t>(rank)];
  Reader reader(message.body);
  switch (message.kind) {
    case MessageKind::kStatus:
      member.status = Status::decode(message.body);
      return;
    case MessageKind::kCall:
      return take_call(rank, Call::decode(message.body));
    case MessageKind::kPing:
      return reply(rank, reader.number(), false, Writer().number(at).take());
    case MessageKind::kSet: {
      const std::string key = reader.text();
      store_[key] = reader.text();
      return;
    }
    case MessageKind::kGet: {
      const std::int64_t id = reader.number();
      gets_.push_back({rank, id, reader.text(), at + patience_.deadline});
      return;
    }
    case MessageKind::kReport:
      reports_.emplace_back(rank, message.body);
      return suspect(at + patience_.grace);
    case MessageKind::kVerdictSeen:
      member.told = true;
      return;
    case MessageKind::kGoodbye:
      member.left = true;
      member.channel.close();
      return;
    default:
      throw BackendError(fmt::format("rank {} sent a message of unknown kind {}", rank,
                                     static_cast<int>(message.kind)));
  }
}

void Hub::take_call(int rank, Call call) {
  // Some know the verdict already: nobody else may go on as if all were well.
  if (!verdict_.empty()) return;
  const int first = [&] {
    for (int other = 0; other < static_cast<int>(members_.size()); ++other) {
      if (members_[static_cast<std::size_t>(other)].call) return other;
    }
    return -1;
  }();
  if (first < 0) {
    calls_since_ = now();
  } else {
    const Call& before = *members_[static_cast<std::size_t>(first)].call;
    if (before.kind != call.kind || before.sequence != call.sequence) {
      return judge(mismatch_verdict(first, before, rank, call));
    }
  }
  members_[static_cast<std::size_t>(rank)].call = std::move(call);
  answer_calls();
}

void Hub::answer_calls() {
  for (const Member& member : members_) {
    if (!member.call) return;
  }
  std::string body;
  if (members_[0].call->kind == CallKind::kBroadcast) body = members_[0].call->body;
  if (members_[0].call->kind == CallKind::kAllGather) {
    Writer all;
    for (const Member& member : members_) all.text(member.call->body);
    body = all.take();
  }
  for (int rank = 0; rank < static_cast<int>(members_.size()); ++rank) {
    Member& member = members_[static_cast<std::size_t>(rank)];
    reply(rank, member.call->id, false, body);
    member.call.reset();
  }
  calls_since_.reset();
}

void Hub::answer_gets(Stamp at) {
  std::erase_if(gets_, [&](const Get& get) {
    const auto found = store_.find(get.key);
    if (found != store_.end()) {
      reply(get.rank, get.id, false, found->second);
    } else if (at >= get.until) {
      reply(get.rank, get.id, true,
            fmt::format("no rank published '{}' within {}", get.key,
                        human_time(static_cast<Nanoseconds>(patience_.deadline))));
    } else {
      return false;
    }
    return true;
  });
}

void Hub::reply(int rank, std::int64_t id, bool failed, std::string body) {
  members_[static_cast<std::size_t>(rank)].channel.send(
      MessageKind::kReply, Reply{id, failed, std::move(body)}.encode());
}

void Hub::send_all(MessageKind kind, const std::string& body, int first_rank) {
  for (std::size_t rank = static_cast<std::size_t>(first_rank); rank < members_.size(); ++rank) {
    members_[rank].channel.send(kind, body);
  }
}

void Hub::leave() {
  std::vector<Channel*> channels;
  for (Member& member : members_) {
    if (!member.here()) continue;
    member.channel.send(MessageKind::kGoodbye);
    channels.push_back(&member.channel);
  }
  close_politely(channels, now() + (verdict_.empty() ? kFarewellLimit : patience_.telling));
}

}  // namespace mergewise::detail
