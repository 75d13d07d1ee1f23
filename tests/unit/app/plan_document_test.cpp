// SPDX-License-Identifier: Apache-2.0
#include "bench/app/plan_document.hpp"

#include "bench/app/export_horovod.hpp"
#include "bench/core/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace mergewise {
namespace {

Profile profile_of(const std::vector<Bytes>& sizes) {
  Profile profile;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    profile.tensors.push_back({"t" + std::to_string(i), sizes[i], 1e3, std::nullopt, "", {}});
  }
  CollectiveCost cost;
  cost.isolated = CostModel(LinearCost{1e3, 1});
  profile.all_reduce = cost;
  return profile;
}

TEST(PlanDocument, NamesTheTensorsInReadyOrder) {
  const Profile profile = profile_of({4, 8, 12});
  const TimeModel model(profile);
  Optima optima(model);
  const nlohmann::json json = plan_document(plan_case("single", {}, model, optima), profile);
  EXPECT_EQ(json["schema"], "mergewise/plan/1");
  EXPECT_EQ(json["tensors"], (std::vector<std::string>{"t0", "t1", "t2"}));
  EXPECT_EQ(json["groups"], std::vector<int>{3});
  EXPECT_TRUE(json["gap"].is_number());
  EXPECT_GT(json["iteration_ns"], 0);
}

TEST(ExportHorovod, GroupsAreNamesInTheOrderInWhichTheyAreReady) {
  const auto json = horovod_document(plan_from_ends("optimal", {1, 3}), profile_of({4, 8, 12}));
  EXPECT_EQ(json["schema"], "mergewise/horovod/1");
  EXPECT_EQ(json["strategy"], "optimal");
  EXPECT_EQ(json["groups"], (std::vector<std::vector<std::string>>{{"t0"}, {"t1", "t2"}}));
}

TEST(ExportHorovod, NoGroupIsFusedWithAnotherAndEachFitsWhole) {
  const auto json =
      horovod_document(plan_from_ends("optimal", {1, 3, 4}), profile_of({20, 17, 4, 0}));
  EXPECT_EQ(json["environment"]["HOROVOD_DISABLE_GROUP_FUSION"], "1");
  // 17 and 4 bytes, each rounded up to a multiple of 16: more than the 32 of the first group.
  EXPECT_EQ(json["environment"]["HOROVOD_FUSION_THRESHOLD"], "48");
}

TEST(ExportHorovod, PlansThatHorovodCannotFollowAreRefused) {
  const Profile profile = profile_of({4, 8});
  MergePlan timed = plan_from_ends("horovod", {1, 2});
  timed.groups[1].release = NotBefore{1e6};
  MergePlan scattered = plan_from_ends("dear", {2}, Collective::kReduceScatter);
  MergePlan cut = plan_from_ends("bytescheduler", {1, 2});
  cut.chunking = Chunking{1, 1};
  for (const MergePlan& plan : {timed, scattered, cut}) {
    try {
      (void)horovod_document(plan, profile);
      FAIL() << plan.strategy;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("the plan of '" + plan.strategy + "' cannot"),
                std::string::npos);
    }
  }
}

}  // namespace
}  // namespace mergewise
