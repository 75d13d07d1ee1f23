// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/channel.hpp"

#include "bench/core/error.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

namespace mergewise::detail {
namespace {

struct Ends {
  Channel a;
  Channel b;
};

Ends make_ends(std::size_t limit = Channel::kHandshakeLimit) {
  auto [a, b] = socket_pair();
  return {Channel(std::move(a), limit), Channel(std::move(b), limit)};
}

TEST(Channel, DeliversMessagesInOrder) {
  Ends ends = make_ends();
  ends.a.send(MessageKind::kStatus, "one");
  ends.a.send(MessageKind::kReport, "");
  ASSERT_TRUE(ends.b.receive());
  const auto first = ends.b.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, MessageKind::kStatus);
  EXPECT_EQ(first->body, "one");
  const auto second = ends.b.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->kind, MessageKind::kReport);
  EXPECT_FALSE(ends.b.next());
}

TEST(Channel, AssemblesAMessageByteByByte) {
  auto [raw, other] = socket_pair();
  Channel channel(std::move(other));
  const std::string frame("\x03\x00\x00\x00\x05xyz", 8);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    EXPECT_FALSE(channel.next());
    ASSERT_EQ(write(raw.get(), &frame[i], 1), 1);
    ASSERT_TRUE(channel.receive());
  }
  const auto message = channel.next();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->body, "xyz");
}

TEST(Channel, SendsOnWhatTheSocketDidNotTakeAtOnce) {
  Ends ends = make_ends(Channel::kLimit);
  const std::string large(8 << 20, 'z');
  ends.a.send(MessageKind::kReply, large);
  EXPECT_TRUE(ends.a.sending());
  std::optional<Message> message;
  while (!message) {
    ends.a.flush();
    ASSERT_TRUE(ends.b.receive());
    message = ends.b.next();
  }
  EXPECT_FALSE(ends.a.sending());
  EXPECT_TRUE(message->body == large);
}

TEST(Channel, KeepsMessagesThatCameBeforeTheEnd) {
  Ends ends = make_ends();
  ends.a.send(MessageKind::kGoodbye);
  ends.a.close();
  EXPECT_FALSE(ends.b.receive());
  EXPECT_TRUE(ends.b.next());
  EXPECT_FALSE(ends.b.next());
}

TEST(Channel, RejectsALengthAboveTheLimit) {
  auto [raw, other] = socket_pair();
  Channel channel(std::move(other), 100);
  const std::string frame("\x65\x00\x00\x00\x05", 5);
  ASSERT_EQ(write(raw.get(), frame.data(), frame.size()), 5);
  ASSERT_TRUE(channel.receive());
  EXPECT_THROW((void)channel.next(), BackendError);
  EXPECT_THROW(channel.send(MessageKind::kReply, std::string(101, 'x')), BackendError);
}

TEST(Channel, TakesInNoMoreOfAFloodThanTheLimit) {
  auto [raw, other] = socket_pair();
  Channel channel(std::move(other), 1000);
  const std::string flood(100000, '\x7f');
  ASSERT_GT(write(raw.get(), flood.data(), flood.size()), 50000);
  ASSERT_TRUE(channel.receive());
  EXPECT_THROW((void)channel.next(), BackendError);
}

TEST(Channel, WritingToAClosedEndRaisesNoSignal) {
  Ends ends = make_ends();
  ends.b.close();
  ends.a.send(MessageKind::kStatus, "nobody reads this");
  EXPECT_FALSE(ends.a.receive());
}

TEST(Channel, ClosesOnlyWhenTheOtherSideHasReadAll) {
  Ends ends = make_ends();
  ends.b.send(MessageKind::kStatus, "unread");  // Would turn a plain close into a reset.
  ends.a.send(MessageKind::kGoodbye);
  std::thread closing([&] { close_politely({&ends.a}, now() + 60'000'000'000); });
  while (ends.b.receive()) {
  }
  EXPECT_TRUE(ends.b.next());
  ends.b.close();
  closing.join();
  EXPECT_FALSE(ends.a.open());
}

}  // namespace
}  // namespace mergewise::detail
