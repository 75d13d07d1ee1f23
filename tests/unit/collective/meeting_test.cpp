// SPDX-License-Identifier: Apache-2.0
// How ranks find rank 0, and what they hear when that fails.
#include "bench/collective/meeting.hpp"

#include "bench/collective/control_plane.hpp"
#include "bench/collective/rendezvous_file.hpp"
#include "bench/core/error.hpp"
#include "tests/unit/collective/rank_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <optional>
#include <string>

namespace mergewise {
namespace {

using detail::Channel;
using detail::Descriptor;
using detail::Endpoint;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Endpoint loopback(int port) { return detail::resolve("127.0.0.1", port).front(); }

/// A port that is free now.
int free_port() { return detail::local_endpoint(detail::listen_on(loopback(0)).get()).port(); }

/// Waits for the next message; an empty kind at the end.
detail::MessageKind next_kind(Channel& channel) {
  for (;;) {
    const bool open = channel.receive();
    if (const auto message = channel.next()) return message->kind;
    if (!open) return detail::MessageKind{};
    std::vector<pollfd> fds{{channel.fd(), POLLIN, 0}};
    detail::poll_until(fds, now() + 1'000'000'000);
  }
}

class Meeting : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<ControlPlane> connect(int rank, int size,
                                                      Nanoseconds deadline = kAmple) const {
    return ControlPlane::connect(identity_of(rank, size), rendezvous_, on_loopback(deadline),
                                 nullptr);
  }
  /// All of these ranks meet and pass a barrier.
  void expect_meeting(int size) const {
    run_threads(size, [&](int rank) { connect(rank, size)->barrier(); });
  }

  TemporaryFolder directory_;
  Rendezvous rendezvous_{Rendezvous::Kind::kFile, directory_.path().string(), "", 0};
};

TEST_F(Meeting, WorksAtAHostAndPort) {
  rendezvous_ = {Rendezvous::Kind::kTcp, "", "127.0.0.1", free_port()};
  expect_meeting(3);
}

TEST_F(Meeting, WorksAtAHostsOwnName) {
  rendezvous_ = {Rendezvous::Kind::kTcp, "", "localhost", free_port()};
  expect_meeting(2);
}

TEST_F(Meeting, WorksWithoutANamedAddress) {
  run_threads(3, [&](int rank) {
    const auto control = ControlPlane::connect(identity_of(rank, 3), rendezvous_,
                                               NetworkOptions{"", "", kAmple}, nullptr);
    EXPECT_FALSE(control->local_address().empty());
    const auto all = control->all_gather(control->local_address());
    EXPECT_EQ(all[0], all[1]);
  });
}

TEST_F(Meeting, WorksOverANamedInterface) {
  run_threads(2, [&](int rank) {
    const auto control = ControlPlane::connect(identity_of(rank, 2), rendezvous_,
                                               NetworkOptions{"lo", "", kAmple}, nullptr);
    EXPECT_EQ(control->local_address(), "127.0.0.1");
    control->barrier();
  });
}

TEST_F(Meeting, NamesTheInterfacesThereAre) {
  EXPECT_THAT(
      [&] {
        (void)ControlPlane::connect(identity_of(0, 2), rendezvous_,
                                    NetworkOptions{"eth99", "", kAmple}, nullptr);
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("'eth99'"), HasSubstr("lo"))));
}

TEST_F(Meeting, RefusesAnAddressOfAnotherHost) {
  EXPECT_THAT(
      [&] {
        (void)ControlPlane::connect(identity_of(0, 2), rendezvous_,
                                    NetworkOptions{"", "192.0.2.1", kAmple}, nullptr);
      },
      ThrowsMessage<InputError>(HasSubstr("192.0.2.1")));
}

TEST_F(Meeting, IsNotMisledByALeftoverWithADeadPort) {
  const detail::RendezvousFile leftover(directory_.path().string(),
                                        {"old", {{"127.0.0.1", free_port()}}});
  expect_meeting(3);
}

TEST_F(Meeting, IsNotMisledByALeftoverWhosePortSomebodyElseHas) {
  const Descriptor stranger = detail::listen_on(loopback(0));  // Accepts, never answers.
  const int port = detail::local_endpoint(stranger.get()).port();
  const detail::RendezvousFile leftover(directory_.path().string(), {"old", {{"127.0.0.1", port}}});
  run_threads(2, [&](int rank) {
    if (rank == 0) {
      // Rank 1 is already talking to the stranger.
      std::vector<pollfd> fds{{stranger.get(), POLLIN, 0}};
      while (fds[0].revents == 0) detail::poll_until(fds, now() + 1'000'000'000);
    }
    connect(rank, 2)->barrier();
  });
}

TEST_F(Meeting, IsNotMisledByGarbageInTheFile) {
  std::ofstream(directory_.path().string() + "/mergewise-rendezvous")
      << "mergewise-rendezvous 1\nx\n::: y";
  expect_meeting(2);
}

TEST_F(Meeting, RemovesOnlyItsOwnFile) {
  const std::string path = directory_.path().string() + "/mergewise-rendezvous";
  {
    const detail::RendezvousFile first(directory_.path().string(), {"first", {}});
    const detail::RendezvousFile second(directory_.path().string(), {"second", {}});
    ASSERT_EQ(detail::read_rendezvous_file(directory_.path().string())->token, "second");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    auto first = std::make_unique<detail::RendezvousFile>(directory_.path().string(),
                                                          detail::Publication{"first", {}});
    const detail::RendezvousFile second(directory_.path().string(), {"second", {}});
    first.reset();
    EXPECT_TRUE(std::filesystem::exists(path));
  }
}

TEST_F(Meeting, StrangersDoNotDisturb) {
  const int port = free_port();
  rendezvous_ = {Rendezvous::Kind::kTcp, "", "127.0.0.1", port};
  std::promise<void> strangers_came;
  const auto came = strangers_came.get_future().share();
  std::promise<void> met;
  run_threads(4, [&](int rank) {
    if (rank == 3) {
      std::string reason;
      Descriptor silent;
      while (!silent) silent = detail::connect_to(loopback(port), nullptr, 1e9, reason);
      const Descriptor talker = detail::connect_to(loopback(port), nullptr, 1e9, reason);
      EXPECT_GT(write(talker.get(), "GET / HTTP/1.1\r\n\r\n", 18), 0);
      strangers_came.set_value();
      return met.get_future().wait();
    }
    if (rank != 0) came.wait();
    connect(rank, 3)->barrier();
    if (rank == 0) met.set_value();
  });
}

TEST_F(Meeting, NamesTheMissingRanksEverywhere) {
  run_threads(2, [&](int rank) {
    EXPECT_THAT([&] { (void)connect(rank, 4, 1e9); },
                ThrowsMessage<BackendError>(
                    AllOf(HasSubstr("ranks 2 and 3 of 4 did not come"), HasSubstr("1.0 s"))));
  });
}

TEST_F(Meeting, WithoutRank0SaysWhereItWasSought) {
  EXPECT_THAT([&] { (void)connect(1, 2, 5e8); },
              ThrowsMessage<BackendError>(AllOf(HasSubstr("rank 1 found no rank 0"),
                                                HasSubstr("file:" + directory_.path().string()))));
}

TEST_F(Meeting, DifferentWorldSizesAreAnErrorEverywhere) {
  run_threads(3, [&](int rank) {
    EXPECT_THAT([&] { (void)connect(rank, rank == 1 ? 4 : 3); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("rank 1 on"), HasSubstr("4 ranks"),
                                                HasSubstr("rank 0 says 3"))));
  });
}

TEST_F(Meeting, ARankGivenTwiceIsAnErrorEverywhere) {
  run_threads(3, [&](int process) {
    EXPECT_THAT([&] { (void)connect(process == 0 ? 0 : 1, 3); },
                ThrowsMessage<InputError>(HasSubstr("rank 1 was started twice")));
  });
}

TEST_F(Meeting, APortInUseIsNamed) {
  const Descriptor other = detail::listen_on(loopback(0));
  const int port = detail::local_endpoint(other.get()).port();
  for (const char* host : {"127.0.0.1", "localhost"}) {
    rendezvous_ = {Rendezvous::Kind::kTcp, "", host, port};
    EXPECT_THAT(
        [&] { (void)connect(0, 2); },
        ThrowsMessage<InputError>(HasSubstr("port " + std::to_string(port) + " is in use")));
  }
}

TEST_F(Meeting, AMissingDirectoryIsAnErrorOfTheInput) {
  rendezvous_.directory = directory_.path().string() + "/absent";
  EXPECT_THAT([&] { (void)connect(0, 2); },
              ThrowsMessage<InputError>(HasSubstr(rendezvous_.directory)));
}

TEST_F(Meeting, AnotherProtocolIsAnErrorOnRank0) {
  const int port = free_port();
  rendezvous_ = {Rendezvous::Kind::kTcp, "", "127.0.0.1", port};
  run_threads(2, [&](int rank) {
    if (rank == 0) {
      EXPECT_THAT([&] { (void)connect(0, 2); },
                  ThrowsMessage<InputError>(HasSubstr("another version of mergewise")));
      return;
    }
    std::string reason;
    Descriptor socket;
    while (!socket) socket = detail::connect_to(loopback(port), nullptr, 1e9, reason);
    Channel channel(std::move(socket));
    detail::Hello hello;
    hello.protocol = 99;
    channel.send(detail::MessageKind::kHello, hello.encode());
    while (channel.receive()) {
    }
  });
}

TEST_F(Meeting, Rank0AnswersNobodyOfAnotherRun) {
  run_threads(2, [&](int rank) {
    if (rank == 0) return connect(0, 2)->barrier();
    std::optional<detail::Publication> publication;
    while (!publication) publication = detail::read_rendezvous_file(directory_.path().string());
    const int port = publication->addresses.front().second;
    std::string reason;
    Channel channel(detail::connect_to(loopback(port), nullptr, 1e9, reason));
    detail::Hello hello;
    hello.token = "of another run";
    hello.rank = 1;
    hello.size = 2;
    channel.send(detail::MessageKind::kHello, hello.encode());
    EXPECT_EQ(next_kind(channel), detail::MessageKind{}) << "closed without a word";
    connect(1, 2)->barrier();
  });
}

TEST_F(Meeting, Rank0OfAnotherRunIsNotTakenForOurs) {
  const Descriptor theirs = detail::listen_on(loopback(0));
  const int port = detail::local_endpoint(theirs.get()).port();
  const detail::RendezvousFile leftover(directory_.path().string(), {"old", {{"127.0.0.1", port}}});
  run_threads(2, [&](int rank) {
    if (rank == 0) {
      Descriptor socket;
      std::vector<pollfd> fds{{theirs.get(), POLLIN, 0}};
      while (!socket) {
        detail::poll_until(fds, now() + 1'000'000'000);
        socket = detail::accept_from(theirs.get());
      }
      Channel channel(std::move(socket));
      EXPECT_EQ(next_kind(channel), detail::MessageKind::kHello);
      channel.send(detail::MessageKind::kHelloSeen, "theirs");
      EXPECT_EQ(next_kind(channel), detail::MessageKind{}) << "it went to look elsewhere";
    }
    connect(rank, 2)->barrier();
  });
}

TEST_F(Meeting, ASecondTryOfTheSameProcessIsNoSecondProcess) {
  const int port = free_port();
  rendezvous_ = {Rendezvous::Kind::kTcp, "", "127.0.0.1", port};
  std::promise<void> tried_twice;
  run_threads(3, [&](int rank) {
    if (rank == 0) return void(connect(0, 3));
    if (rank == 2) {
      tried_twice.get_future().wait();
      return void(connect(2, 3));
    }
    std::string reason;
    Descriptor socket;
    while (!socket) socket = detail::connect_to(loopback(port), nullptr, 1e9, reason);
    Channel first(std::move(socket));
    Channel second(detail::connect_to(loopback(port), nullptr, 1e9, reason));
    detail::Hello hello;
    hello.instance = "the same";
    hello.rank = 1;
    hello.size = 3;
    first.send(detail::MessageKind::kHello, hello.encode());
    EXPECT_EQ(next_kind(first), detail::MessageKind::kHelloSeen);
    second.send(detail::MessageKind::kHello, hello.encode());
    EXPECT_EQ(next_kind(second), detail::MessageKind::kHelloSeen);
    tried_twice.set_value();
    EXPECT_EQ(next_kind(second), detail::MessageKind::kWelcome);
    second.send(detail::MessageKind::kGoodbye);
  });
}

}  // namespace
}  // namespace mergewise
