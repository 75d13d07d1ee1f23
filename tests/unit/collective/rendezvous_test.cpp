// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/meeting.hpp"
#include "bench/collective/rank.hpp"
#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Rendezvous, ReadsADirectory) {
  const Rendezvous found = parse_rendezvous("file:/scratch/job:7");
  EXPECT_EQ(found.kind, Rendezvous::Kind::kFile);
  EXPECT_EQ(found.directory, "/scratch/job:7");
  EXPECT_EQ(detail::describe(found), "file:/scratch/job:7");
}

TEST(Rendezvous, ReadsAHostAndAPort) {
  const Rendezvous found = parse_rendezvous("tcp:node-1.cluster:29500");
  EXPECT_EQ(found.kind, Rendezvous::Kind::kTcp);
  EXPECT_EQ(found.host, "node-1.cluster");
  EXPECT_EQ(found.port, 29500);
}

TEST(Rendezvous, ReadsAnAddressOfColonsInBrackets) {
  const Rendezvous found = parse_rendezvous("tcp:[fd00::1]:65535");
  EXPECT_EQ(found.host, "fd00::1");
  EXPECT_EQ(found.port, 65535);
  EXPECT_EQ(detail::describe(found), "tcp:[fd00::1]:65535");
}

TEST(Rendezvous, RejectsAllElseWithTheValidForms) {
  for (const char* text :
       {"", "file:", "tcp:", "tcp:host", "tcp:host:", "tcp::1", "tcp:host:0", "tcp:host:65536",
        "tcp:host:x", "tcp:fd00::1:29500", "http:a:1", "/tmp"}) {
    EXPECT_THAT([&] { (void)parse_rendezvous(text); },
                ThrowsMessage<InputError>(AllOf(HasSubstr(std::string("'") + text + "'"),
                                                HasSubstr("file:DIR"), HasSubstr("tcp:HOST:PORT"))))
        << text;
  }
}

TEST(RankNames, ReadAsPeopleWriteThem) {
  EXPECT_EQ(detail::name_ranks({2}), "rank 2");
  EXPECT_EQ(detail::name_ranks({1, 3}), "ranks 1 and 3");
  EXPECT_EQ(detail::name_ranks({1, 3, 7}), "ranks 1, 3 and 7");
}

}  // namespace
}  // namespace mergewise
