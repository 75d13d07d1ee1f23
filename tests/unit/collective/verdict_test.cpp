// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise::detail {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Patience, LeavesTimeToEndWithinTheDeadline) {
  for (const double seconds : {1.0, 2.0, 10.0, 60.0, 3600.0}) {
    const Patience patience(seconds * 1e9);
    EXPECT_LE(patience.stall + patience.window + patience.telling, patience.deadline * 2 / 3);
    EXPECT_LE(patience.grace + patience.telling, patience.deadline / 2);
    EXPECT_GE(patience.stall, 4 * patience.heartbeat);
  }
  EXPECT_EQ(Patience(60e9).stall, 15'000'000'000);
  EXPECT_EQ(Patience(60e9).heartbeat, 1'000'000'000);
}

TEST(Verdict, NamesRankPhaseAndGroup) {
  EXPECT_EQ(died_verdict({2}, {"resnet50 / wfbp, measuring", 17}),
            "rank 2 died (its connection closed) during 'resnet50 / wfbp, measuring' while group "
            "17 was in flight or next; the other ranks stop. Look at its own output or the kernel "
            "log for "
            "the reason.");
}

TEST(Verdict, LeavesOutWhatIsUnknown) {
  EXPECT_THAT(died_verdict({2}, {}), AllOf(Not(HasSubstr("during")), Not(HasSubstr("group"))));
  EXPECT_THAT(died_verdict({2}, {"calibration", -1}),
              AllOf(HasSubstr("during 'calibration';"), Not(HasSubstr("group"))));
}

TEST(Verdict, NamesAllWhoDiedTogether) {
  EXPECT_THAT(died_verdict({1, 2}, {}), HasSubstr("ranks 1 and 2 died (their connections closed)"));
}

TEST(Verdict, SaysHowLongARankWasSilent) {
  EXPECT_THAT(stalled_verdict({3}, 10'000'000'000, {"warm-up", 4}),
              AllOf(HasSubstr("rank 3 stalled (no sign of life for 10.0 s) during 'warm-up'"),
                    HasSubstr("group 4")));
}

TEST(Verdict, SaysWhoWaitsForWhomAndWhereTheyAre) {
  const std::string verdict =
      absent_verdict(CallKind::kBarrier, {0, 1}, 60'000'000'000, {2, 3}, {{"measuring", 5}, {}});
  EXPECT_THAT(verdict, AllOf(HasSubstr("ranks 0 and 1 wait in a barrier since 60.0 s for ranks 2 "
                                       "and 3"),
                             HasSubstr("rank 2 is alive during 'measuring' while group 5"),
                             HasSubstr("rank 3 is alive, its place unknown")));
}

TEST(Verdict, MentionsRanksThatHadLeftBeforeAReport) {
  EXPECT_EQ(report_verdict(1, "it broke", {}), "rank 1 reports: it broke");
  EXPECT_EQ(report_verdict(1, "it broke", {2}),
            "rank 1 reports: it broke (rank 2 had left before)");
}

}  // namespace
}  // namespace mergewise::detail
