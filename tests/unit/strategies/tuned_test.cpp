// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/tuned.hpp"

#include "bench/strategies/ddp.hpp"
#include "tests/unit/strategies/profiles.hpp"
#include "tests/unit/strategies/searching.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <set>

namespace mergewise {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::size_t> ddp_ends(const TimeModel& model, Bytes cap) {
  const Options caps({{"cap_bytes", cap}, {"first_cap_bytes", cap}});
  return Ddp().plan(model, caps).ends();
}

/// The caps at which DDP's rule may change: the sums of consecutive tensors, and one more byte.
std::set<Bytes> all_caps(const TimeModel& model) {
  std::set<Bytes> caps{0};
  for (std::size_t i = 0; i < model.tensor_count(); ++i) {
    for (std::size_t j = i + 1; j <= model.tensor_count(); ++j) caps.insert(model.bytes(i, j) + 1);
  }
  return caps;
}

TEST(Tuned, IsTheBestOfAllCaps) {
  test::Random random(3);
  for (int round = 0; round < 60; ++round) {
    const test::Shape shape{.zero_times = round % 2 == 0,
                            .empty_tensors = round % 3 == 0,
                            .small_integers = round % 5 == 0};
    const auto tensors = random.tensors(static_cast<std::size_t>(random.integer(1, 30)), shape);
    const TimeModel model(test::profile_of(tensors, random.line(shape)));
    Nanoseconds least = std::numeric_limits<double>::infinity();
    for (const Bytes cap : all_caps(model)) {
      const MergePlan plan = plan_from_ends("ddp", ddp_ends(model, cap));
      least = std::min(least, predict_iteration(model, plan));
    }
    EXPECT_EQ(predict_iteration(model, Tuned().plan(model, {})), least) << "round " << round;
  }
}

TEST(Tuned, OfEquallyGoodCapsTheLargestWins) {
  const TimeModel model(test::profile_of({{4, 0}, {4, 0}, {4, 0}}, LinearCost{0, 1}));
  EXPECT_THAT(Tuned().plan(model, {}).ends(), ElementsAre(3));
}

TEST(Tuned, TheBestThreeAreConfirmedByTheEvaluator) {
  const TimeModel model(
      test::profile_of({{4, 10}, {8, 10}, {16, 10}, {32, 10}}, LinearCost{2, 0.25}));
  test::Asked same(model);
  EXPECT_EQ(Tuned().search(model, {}, same), Tuned().plan(model, {}));
  ASSERT_THAT(same.asked, SizeIs(3));
  EXPECT_FALSE(same.repeated);
  // Measured, the third is the best.
  const std::vector<std::size_t> third = same.asked[2];
  const auto answer = [&](const std::vector<std::size_t>& ends) {
    return ends == third ? 90 : 100;
  };
  test::Asked measured(answer);
  EXPECT_EQ(Tuned().search(model, {}, measured).ends(), third);
  test::Asked noisy(answer, 0.2);
  EXPECT_EQ(Tuned().search(model, {}, noisy).ends(), same.asked[0])
      << "within the noise the model decides";
}

TEST(Tuned, ManyTensorsHaveAGridOfCaps) {
  const std::size_t count = kManyTensors + 1;
  test::Random random(4);
  const TimeModel model(test::profile_of(random.tensors(count, {}), LinearCost{1e5, 0.1}));
  const MergePlan plan = Tuned().plan(model, {});
  EXPECT_NO_THROW(check(plan, count));
  for (const Bytes cap : {Bytes{1}, Bytes{1} << 20, Bytes{25} << 20, model.bytes(0, count)}) {
    const MergePlan other = plan_from_ends("ddp", ddp_ends(model, cap));
    EXPECT_LE(predict_iteration(model, plan), 1.1 * predict_iteration(model, other)) << cap;
  }
}

TEST(Tuned, ExplainsBordersByTheChosenCap) {
  const TimeModel model(
      test::profile_of({{4, 10}, {8, 10}, {16, 10}, {32, 10}}, LinearCost{2, 0.25}));
  const auto [plan, decisions] = Tuned().explain(model, {});
  ASSERT_THAT(decisions, SizeIs(3));
  for (const Decision& decision : decisions) {
    EXPECT_EQ(decision.merged, decision.left_value < decision.right_value);
    EXPECT_EQ(decision.unit, "bytes");
  }
  EXPECT_EQ(ddp_ends(model, static_cast<Bytes>(decisions[0].right_value)), plan.ends());
}

}  // namespace
}  // namespace mergewise
