// SPDX-License-Identifier: Apache-2.0
// Rank 0's side of the meeting: takes in connections, sorts out strangers, names who is missing.
#include "bench/collective/meeting.hpp"
#include "bench/collective/rendezvous_file.hpp"
#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>

namespace mergewise::detail {
namespace {

constexpr std::size_t kMaxStrangers = 1024;  // waiting connections without a hello
constexpr Stamp kHelloLimit = 5'000'000'000;

/// A connection and, once it said who it is, its hello.
struct Guest {
  Channel channel;
  Stamp since = 0;
  std::optional<Hello> hello;
};

class Host {
 public:
  Host(const RankIdentity& identity, const Rendezvous& rendezvous, const NetworkOptions& network)
      : size_(identity.size),
        where_(describe(rendezvous)),
        deadline_ns_(network.deadline_ns),
        until_(now() + static_cast<Stamp>(network.deadline_ns)) {
    listen(rendezvous, network);
  }

  Gathering gather() {
    while (present() < size_ - 1 && now() < until_ && !refusal_) take_in(until_);
    if (!refusal_ && present() < size_ - 1) refuse_missing();
    if (refusal_) turn_away();
    return welcome();
  }

 private:
  void listen(const Rendezvous& rendezvous, const NetworkOptions& network) {
    const std::optional<Endpoint> own = own_endpoint(network);
    const bool file = rendezvous.kind == Rendezvous::Kind::kFile;
    if (own && file) {
      listener_ = listen_on(*own);
    } else if (own) {
      listener_ = listen_on(resolve(own->host(), rendezvous.port).front());
    } else if (!file && is_literal(rendezvous.host)) {
      listener_ = listen_on(resolve(rendezvous.host, rendezvous.port).front());
    } else {
      // A host's own name may stand for 127.0.1.1 on that host: listen on every address instead.
      listener_ = listen_everywhere(file ? 0 : rendezvous.port);
    }
    if (!file) return;
    Publication publication{random_name(), {}};
    const int port = local_endpoint(listener_.get()).port();
    if (own) {
      publication.addresses.emplace_back(own->host(), port);
    } else {
      for (const Endpoint& endpoint : usable_endpoints(port)) {
        publication.addresses.emplace_back(endpoint.host(), port);
      }
    }
    token_ = publication.token;
    file_ = std::make_unique<RendezvousFile>(rendezvous.directory, publication);
  }

  [[nodiscard]] int present() const {
    return static_cast<int>(
        std::count_if(guests_.begin(), guests_.end(), [](const Guest& g) { return !!g.hello; }));
  }

  Guest* guest_of(std::int64_t rank) {
    const auto found = std::find_if(guests_.begin(), guests_.end(), [&](const Guest& guest) {
      return guest.hello && guest.hello->rank == rank;
    });
    return found == guests_.end() ? nullptr : &*found;
  }

  /// One turn: waits for something to come, accepts, reads, forgets who has gone.
  void take_in(Stamp until) {
    std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}};
    for (const Guest& guest : guests_) fds.push_back({guest.channel.fd(), POLLIN, 0});
    poll_until(fds, std::min(until, now() + kHelloLimit));
    while (Descriptor socket = accept_from(listener_.get())) {
      if (guests_.size() < kMaxStrangers + static_cast<std::size_t>(size_)) {
        guests_.push_back({Channel(std::move(socket)), now(), std::nullopt});
      }
    }
    // Who has closed goes first, so that a rank's second try is not taken for a second process.
    std::vector<Guest*> speakers;
    for (auto guest = guests_.begin(); guest != guests_.end();) {
      const bool silent = !guest->hello && now() - guest->since > kHelloLimit;
      if (!guest->channel.receive() || silent) {
        guest = guests_.erase(guest);
      } else {
        speakers.push_back(&*guest++);
      }
    }
    for (Guest* guest : speakers) listen_to(*guest);
    guests_.remove_if([](const Guest& guest) { return !guest.channel.open(); });
  }

  void listen_to(Guest& guest) {
    try {
      while (guest.channel.open()) {
        const auto message = guest.channel.next();
        if (!message) return;
        if (message->kind == MessageKind::kHello && !guest.hello) {
          admit(guest, Hello::decode(message->body));
        } else {
          guest.channel.close();
        }
      }
    } catch (const BackendError&) {
      guest.channel.close();  // Not one of ours: a port scanner, another program.
    }
  }

  void admit(Guest& guest, Hello hello) {
    if (hello.protocol == Hello::kProtocol && hello.token != token_) {
      guest.channel.close();  // It read a leftover of another run, and will look again.
      return;
    }
    if (hello.protocol != Hello::kProtocol) {
      refuse(
          "a rank runs another version of mergewise (control protocol {} instead of {}): start "
          "the same build everywhere",
          hello.protocol, Hello::kProtocol);
    } else if (hello.size != size_) {
      refuse(
          "rank {} on {} says that there are {} ranks, rank 0 says {}: start all with the same "
          "number of ranks (world size)",
          hello.rank, hello.host.name, hello.size, size_);
    } else if (hello.rank < 1 || hello.rank >= size_) {
      refuse("a process on {} says that it is rank {} of {}: ranks besides 0 are from 1 to {}",
             hello.host.name, hello.rank, size_, size_ - 1);
    } else if (Guest* other = guest_of(hello.rank)) {
      if (other->hello->instance == hello.instance) {
        other->channel.close();
        other->hello.reset();
      } else {
        refuse("rank {} was started twice (on {} and on {}): give every process its own rank",
               hello.rank, other->hello->host.name, hello.host.name);
      }
    }
    guest.channel.send(MessageKind::kHelloSeen, token_);
    guest.hello = std::move(hello);
  }

  template <typename... Args>
  void refuse(fmt::format_string<Args...> format, Args&&... args) {
    if (!refusal_) refusal_ = Reject{true, fmt::format(format, std::forward<Args>(args)...)};
  }

  void refuse_missing() {
    std::vector<int> missing;
    for (int rank = 1; rank < size_; ++rank) {
      if (guest_of(rank) == nullptr) missing.push_back(rank);
    }
    refusal_ = Reject{
        false,
        fmt::format("{} of {} did not come to the rendezvous {} within {}; the others stop. Was it "
                    "started, with the same rendezvous, and can its host reach rank 0?",
                    name_ranks(missing), size_, where_, human_time(deadline_ns_))};
  }

  /// Tells everyone why, also those who come a little later: they would look for rank 0 until
  /// their own deadline otherwise.
  [[noreturn]] void turn_away() {
    const auto grace = std::min(2e9, deadline_ns_ / 4);
    const Stamp until = now() + static_cast<Stamp>(refusal_->bad_input ? grace : 0);
    while (present() < size_ - 1 && now() < until) take_in(until);
    std::vector<Channel*> channels;
    for (Guest& guest : guests_) {
      if (!guest.hello) continue;
      guest.channel.send(MessageKind::kReject, refusal_->encode());
      channels.push_back(&guest.channel);
    }
    close_politely(channels, now() + 1'000'000'000);
    if (refusal_->bad_input) throw InputError(refusal_->reason);
    throw BackendError(refusal_->reason);
  }

  Gathering welcome() {
    const HostInfo here = this_host();
    Gathering gathering;
    gathering.single_host = true;
    // Ranks of other hosts say best under which address rank 0 is reached.
    const Guest* judge = nullptr;
    for (const Guest& guest : guests_) {
      if (!guest.hello) continue;
      const bool far = !guest.hello->host.same_host(here);
      if (far) gathering.single_host = false;
      if (judge == nullptr || (far && judge->hello->host.same_host(here))) judge = &guest;
    }
    gathering.address = local_endpoint(judge->channel.fd()).host();
    gathering.channels.resize(static_cast<std::size_t>(size_));
    for (Guest& guest : guests_) {
      if (!guest.hello) continue;
      Welcome message{gathering.single_host, guest.hello->address};
      // A rank beside rank 0 may have reached it over loopback, where nobody else can reach it.
      const bool beside = guest.hello->host.same_host(here);
      if (!gathering.single_host && beside && !guest.hello->address_fixed) {
        message.address = gathering.address;
      }
      guest.channel.set_limit(Channel::kLimit);
      guest.channel.send(MessageKind::kWelcome, message.encode());
      gathering.channels[static_cast<std::size_t>(guest.hello->rank)] = std::move(guest.channel);
    }
    return gathering;
  }

  int size_;
  std::string where_;
  Nanoseconds deadline_ns_;
  Stamp until_;
  Descriptor listener_;
  std::string token_;
  std::unique_ptr<RendezvousFile> file_;
  std::list<Guest> guests_;
  std::optional<Reject> refusal_;
};

}  // namespace

Gathering gather_ranks(const RankIdentity& identity, const Rendezvous& rendezvous,
                       const NetworkOptions& network) {
  return Host(identity, rendezvous, network).gather();
}

}  // namespace mergewise::detail
