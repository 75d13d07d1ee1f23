// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/message.hpp"

#include "bench/collective/phase_box.hpp"
#include "bench/core/error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace mergewise::detail {
namespace {

TEST(Message, FieldsComeBackAsWritten) {
  const std::string bytes =
      Writer().number(-1).text(std::string("a\0b", 3)).number(INT64_MAX).text("").take();
  Reader reader(bytes);
  EXPECT_EQ(reader.number(), -1);
  EXPECT_EQ(reader.text(), std::string("a\0b", 3));
  EXPECT_EQ(reader.number(), INT64_MAX);
  EXPECT_EQ(reader.text(), "");
  EXPECT_THROW(reader.number(), BackendError);
}

TEST(Message, ALengthBeyondTheBytesIsRejected) {
  for (const std::int64_t length : {std::int64_t{4}, std::int64_t{-1}, INT64_MAX}) {
    const std::string bytes = Writer().number(length).take() + "abc";
    EXPECT_THROW(Reader(bytes).text(), BackendError);
  }
}

TEST(Message, HelloComesBackAsWritten) {
  Hello hello;
  hello.token = "token";
  hello.instance = "instance";
  hello.rank = 3;
  hello.size = 4;
  hello.host = {"boot", 42, "node"};
  hello.address = "10.0.0.1";
  hello.address_fixed = true;
  const Hello back = Hello::decode(hello.encode());
  EXPECT_EQ(back.token, "token");
  EXPECT_EQ(back.instance, "instance");
  EXPECT_EQ(back.rank, 3);
  EXPECT_EQ(back.size, 4);
  EXPECT_TRUE(back.host.same_host(hello.host));
  EXPECT_EQ(back.host.name, "node");
  EXPECT_EQ(back.address, "10.0.0.1");
  EXPECT_TRUE(back.address_fixed);
}

TEST(Message, HelloOfAnotherProtocolIsReadAsFarAsItIsKnown) {
  const std::string future = Writer().text("mergewise-hello").number(99).take() + "anything";
  EXPECT_EQ(Hello::decode(future).protocol, 99);
}

TEST(Message, AStrangersBytesAreNoHello) {
  EXPECT_THROW((void)Hello::decode("GET / HTTP/1.1\r\n\r\n"), BackendError);
  EXPECT_THROW((void)Hello::decode(Writer().text("mergewise-hullo").number(1).take()),
               BackendError);
}

TEST(HostInfo, DiffersByBootOrNetworkNamespace) {
  const HostInfo here{"boot", 1, "a"};
  EXPECT_TRUE(here.same_host({"boot", 1, "b"}));
  EXPECT_FALSE(here.same_host({"boot", 2, "a"}));
  EXPECT_FALSE(here.same_host({"other", 1, "a"}));
  EXPECT_FALSE(this_host().boot_id.empty());
  EXPECT_NE(this_host().network_namespace, 0);
}

TEST(PhaseBox, CutsLongTexts) {
  PhaseBox box;
  EXPECT_EQ(box.read(), "");
  box.write("resnet50 / wfbp, measuring");
  EXPECT_EQ(box.read(), "resnet50 / wfbp, measuring");
  box.write(std::string(500, 'x'));
  EXPECT_EQ(box.read(), std::string(PhaseBox::kCapacity, 'x'));
  box.write("");
  EXPECT_EQ(box.read(), "");
}

TEST(PhaseBox, ReadersNeverSeeHalfAText) {
  PhaseBox box;
  const std::string a(100, 'a');
  const std::string b(60, 'b');
  box.write(a);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 20000; ++i) box.write(i % 2 == 0 ? b : a);
    done = true;
  });
  while (!done) {
    const std::string seen = box.read();
    ASSERT_TRUE(seen == a || seen == b) << seen;
  }
  writer.join();
}

}  // namespace
}  // namespace mergewise::detail
