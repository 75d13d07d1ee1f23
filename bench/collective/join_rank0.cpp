// SPDX-License-Identifier: Apache-2.0
// The other ranks' side of the meeting: they look for rank 0 until it answers.
#include "bench/collective/meeting.hpp"
#include "bench/collective/rendezvous_file.hpp"
#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <optional>

namespace mergewise::detail {
namespace {

constexpr Stamp kSecond = 1'000'000'000;
constexpr Stamp kRetryInterval = 50'000'000;

/// Waits for the next message. nullopt: the other side closed, spoke nonsense, or time is up.
std::optional<Message> await(Channel& channel, Stamp until) {
  try {
    for (;;) {
      const bool open = channel.receive();
      if (auto message = channel.next()) return message;
      if (!open || now() >= until) return std::nullopt;
      std::vector<pollfd> fds{{channel.fd(), POLLIN, 0}};
      poll_until(fds, until);
    }
  } catch (const BackendError&) {
    return std::nullopt;
  }
}

class Seeker {
 public:
  Seeker(const RankIdentity& identity, const Rendezvous& rendezvous, const NetworkOptions& network)
      : rendezvous_(rendezvous),
        deadline_ns_(network.deadline_ns),
        until_(now() + static_cast<Stamp>(network.deadline_ns)),
        own_(own_endpoint(network)) {
    hello_.rank = identity.rank;
    hello_.size = identity.size;
    hello_.instance = random_name();
    hello_.host = this_host();
    hello_.address_fixed = own_.has_value();
  }

  Membership join() {
    Channel channel = find();
    // Rank 0 decides within its own deadline, which may have begun later than ours.
    const Stamp until = now() + static_cast<Stamp>(deadline_ns_) + 2 * kSecond;
    const auto answer = await(channel, until);
    if (answer && answer->kind == MessageKind::kWelcome) {
      channel.set_limit(Channel::kLimit);
      return {std::move(channel), Welcome::decode(answer->body)};
    }
    if (answer && answer->kind == MessageKind::kReject) {
      const Reject reject = Reject::decode(answer->body);
      if (reject.bad_input) throw InputError(reject.reason);
      throw BackendError(reject.reason);
    }
    throw BackendError(
        fmt::format("rank 0 went away during the rendezvous {} (noticed by rank {}): look at rank "
                    "0's own output",
                    describe(rendezvous_), hello_.rank));
  }

 private:
  Channel find() {
    while (now() < until_) {
      for (const Endpoint& endpoint : candidates()) {
        if (now() >= until_) break;
        if (auto channel = greet(endpoint)) return std::move(*channel);
      }
      std::vector<pollfd> none;
      poll_until(none, std::min(until_, now() + kRetryInterval));
    }
    throw BackendError(
        fmt::format("rank {} found no rank 0 at the rendezvous {} within {} ({}). Was rank 0 "
                    "started, with the same rendezvous, and can this host reach it?",
                    hello_.rank, describe(rendezvous_), human_time(deadline_ns_), reason_));
  }

  std::vector<Endpoint> candidates() {
    std::vector<Endpoint> found;
    try {
      if (rendezvous_.kind == Rendezvous::Kind::kTcp) {
        found = resolve(rendezvous_.host, rendezvous_.port);
      } else if (const auto publication = read_rendezvous_file(rendezvous_.directory)) {
        hello_.token = publication->token;
        for (const auto& [address, port] : publication->addresses) {
          if (is_literal(address)) found.push_back(resolve(address, port).front());
        }
      } else {
        reason_ = "rank 0 has published no address there";
      }
    } catch (const BackendError& error) {
      reason_ = error.what();  // A name service may come up later than we do.
    }
    if (own_) {
      std::erase_if(found, [&](const Endpoint& e) { return e.family() != own_->family(); });
    }
    return found;
  }

  /// Whether the right rank 0 lives there: a leftover file may name a port that others use now.
  std::optional<Channel> greet(const Endpoint& endpoint) {
    const Stamp left = until_ - now();
    Descriptor socket = connect_to(endpoint, own_ ? &*own_ : nullptr,
                                   static_cast<Nanoseconds>(std::min(left, kSecond)), reason_);
    if (!socket) return std::nullopt;
    hello_.address = local_endpoint(socket.get()).host();
    Channel channel(std::move(socket));
    channel.send(MessageKind::kHello, hello_.encode());
    const auto answer = await(channel, std::min(until_, now() + 2 * kSecond));
    if (answer && answer->kind == MessageKind::kHelloSeen && answer->body == hello_.token) {
      return channel;
    }
    reason_ = fmt::format("{}: connected, but it did not answer as this run's rank 0 does",
                          endpoint.text());
    return std::nullopt;
  }

  Rendezvous rendezvous_;
  Nanoseconds deadline_ns_;
  Stamp until_;
  std::optional<Endpoint> own_;
  Hello hello_;
  std::string reason_ = "no attempt was made";
};

}  // namespace

Membership join_rank0(const RankIdentity& identity, const Rendezvous& rendezvous,
                      const NetworkOptions& network) {
  return Seeker(identity, rendezvous, network).join();
}

}  // namespace mergewise::detail
