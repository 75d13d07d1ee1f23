// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/calibrate.hpp"

#include "bench/core/error.hpp"
#include "tests/unit/replay/fakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace mergewise {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CalibrationSettings quick(std::vector<Bytes> sizes) {
  CalibrationSettings settings;
  settings.sizes = std::move(sizes);
  settings.most_repetitions = 3;
  return settings;
}

// What a calibration of two pretended ranks gives and did.
struct Pretended {
  Log log;
  MeasuredCosts costs;

  explicit Pretended(const CalibrationSettings& settings,
                     Collective collective = Collective::kAllReduce) {
    const auto control = alone();
    const auto device = make_host_device();
    PretendedRanks communicator(2, &log, {});
    costs = calibrate_collective(*control, device.get(), &communicator, collective, settings);
  }
};

std::vector<Bytes> sizes_of(const MeasuredVariant& variant) {
  std::vector<Bytes> sizes;
  for (const CalibrationPoint& point : variant.points) sizes.push_back(point.bytes);
  return sizes;
}

TEST(Calibrate, SizesGoUpByFoursAndEndWithTheLargest) {
  EXPECT_EQ(calibration_sizes(5000), (std::vector<Bytes>{1024, 4096, 5000}));
  EXPECT_EQ(calibration_sizes(4096), (std::vector<Bytes>{1024, 4096}));
  EXPECT_EQ(calibration_sizes(8), (std::vector<Bytes>{8}));
  EXPECT_TRUE(calibration_sizes(0).empty());
}

TEST(Calibrate, DenseSizesAreThePowersOfTwoWithOddOnesBetween) {
  EXPECT_THAT(dense_calibration_sizes(1024),
              ElementsAre(4, 8, 16, 32, 52, 64, 128, 196, 256, 512, 1024));
  EXPECT_THAT(dense_calibration_sizes(7), ElementsAre(4));
  EXPECT_THAT(dense_calibration_sizes(100), ElementsAre(4, 8, 16, 32, 64, 100));
  EXPECT_TRUE(dense_calibration_sizes(0).empty());
  const auto all = dense_calibration_sizes(Bytes{256} << 20);
  EXPECT_EQ(all.back(), Bytes{256} << 20);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_THAT(all, Contains(3 * 4096 * 4 + 4)) << "neither whole pages nor a multiple of 8";
  for (const Bytes bytes : all) EXPECT_EQ(bytes % 4, 0);
}

TEST(Calibrate, VariantsHaveTheNamesOfFiles) {
  for (const std::string& name : cost_variant_names()) {
    EXPECT_EQ(name_of(cost_variant_from(name)), name);
  }
  EXPECT_STREQ(name_of(CostVariant::kBesideCompute), "beside_compute");
  try {
    (void)cost_variant_from("back_to_bak");
    FAIL() << "expected an error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'back_to_back'"));
  }
}

TEST(Calibrate, GivesAPointForEachSizeWithItsInterval) {
  CalibrationSettings settings = quick({8, 400});
  settings.rounds = 4;
  const Pretended run(settings);
  ASSERT_EQ(run.costs.variants.size(), 1U);
  const MeasuredVariant& variant = run.costs.variants[0];
  EXPECT_EQ(variant.variant, CostVariant::kBackToBack);
  EXPECT_EQ(sizes_of(variant), settings.sizes);
  for (const CalibrationPoint& point : variant.points) {
    EXPECT_GT(point.ns, 0);
    EXPECT_LE(point.low_ns, point.ns);
    EXPECT_LE(point.ns, point.high_ns);
    EXPECT_GE(point.repetitions, 2 * settings.rounds) << "two are back to back";
    EXPECT_EQ(point.repetitions % settings.rounds, 0);
  }
  EXPECT_THAT(run.costs.variants[0].left_out, IsEmpty());
  EXPECT_FALSE(run.costs.stopped);
}

TEST(Calibrate, ASingleRoundHasNoInterval) {
  CalibrationSettings settings = quick({8});
  settings.rounds = 1;
  const Pretended run(settings);
  EXPECT_TRUE(std::isnan(run.costs.variants[0].points[0].low_ns));
  EXPECT_TRUE(std::isnan(run.costs.variants[0].points[0].high_ns));
}

TEST(Calibrate, CallsTheCollectiveWithItsSizesArgument) {
  EXPECT_THAT(Pretended(quick({8, 400})).log.entries(), Contains("r2"));
  EXPECT_THAT(Pretended(quick({8, 400})).log.entries(), Contains("r100"));
  const auto scattered = Pretended(quick({400}), Collective::kReduceScatter).log.entries();
  EXPECT_THAT(std::set<std::string>(scattered.begin(), scattered.end()), ElementsAre("s100"));
  const auto gathered = Pretended(quick({400}), Collective::kAllGather).log.entries();
  EXPECT_THAT(std::set<std::string>(gathered.begin(), gathered.end()), ElementsAre("g200"))
      << "one rank contributes 400 bytes, two ranks 800";
}

TEST(Calibrate, OddSizesAreMeasuredOffAnyAlignment) {
  // Remembers where the data was.
  class Addresses : public PretendedRanks {
   public:
    Addresses() : PretendedRanks(2, nullptr, {}) {}
    void all_reduce(std::byte* data, std::size_t count, DType, Stream&) override {
      off[count * sizeof(float)] = reinterpret_cast<std::uintptr_t>(data) % 64;
    }
    std::map<std::size_t, std::uintptr_t> off;
  };
  const auto control = alone();
  const auto device = make_host_device();
  Addresses communicator;
  (void)calibrate_collective(*control, device.get(), &communicator, Collective::kAllReduce,
                             quick({48, 52, 64, 4096, 12292}));
  EXPECT_EQ(communicator.off[52], 4U);
  EXPECT_EQ(communicator.off[12292], 4U);
  for (const std::size_t bytes : {48U, 64U, 4096U}) EXPECT_EQ(communicator.off[bytes], 0U);
}

TEST(Calibrate, MeasuresEveryVariantThatIsAskedFor) {
  CalibrationSettings settings = quick({8, 64});
  settings.variants = {CostVariant::kIsolated, CostVariant::kBackToBack,
                       CostVariant::kBesideCompute};
  settings.rounds = 2;
  const Pretended run(settings);
  ASSERT_EQ(run.costs.variants.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(run.costs.variants[i].variant, settings.variants[i]);
    EXPECT_EQ(sizes_of(run.costs.variants[i]), settings.sizes);
  }
}

using Visit = std::tuple<Bytes, CostVariant, int>;

std::vector<Visit> visits_of(CalibrationSettings settings) {
  std::vector<Visit> visits;
  settings.observe = [&](Bytes bytes, CostVariant variant, int round) {
    if (round >= 0) visits.emplace_back(bytes, variant, round);
  };
  const Pretended run(settings);
  return visits;
}

TEST(Calibrate, InterleavesSizesAndVariantsInAnOrderOfItsSeed) {
  CalibrationSettings settings = quick({8, 16, 32, 64, 128, 256});
  settings.variants = {CostVariant::kIsolated, CostVariant::kBackToBack};
  const auto visits = visits_of(settings);
  ASSERT_EQ(visits.size(), 36U);
  std::vector<std::set<std::pair<Bytes, CostVariant>>> seen(3);
  std::vector<std::vector<Bytes>> orders(3);
  for (const auto& [bytes, variant, round] : visits) {
    seen[static_cast<std::size_t>(round)].emplace(bytes, variant);
    orders[static_cast<std::size_t>(round)].push_back(bytes);
  }
  for (const auto& round : seen) EXPECT_EQ(round.size(), 12U) << "each once in each round";
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_FALSE(std::is_sorted(orders[0].begin(), orders[0].end()));
  EXPECT_EQ(visits_of(settings), visits);
  settings.seed = 2;
  EXPECT_NE(visits_of(settings), visits);
}

TEST(Calibrate, AStopKeepsWhatWasMeasured) {
  CalibrationSettings settings = quick({8, 16, 32});
  int measured = 0;
  settings.observe = [&](Bytes, CostVariant, int round) { measured += round >= 0 ? 1 : 0; };
  settings.stop_requested = [&] { return measured == 2; };
  const Pretended run(settings);
  EXPECT_TRUE(run.costs.stopped);
  EXPECT_EQ(run.costs.variants[0].points.size(), 3U) << "all were tried";
}

TEST(Calibrate, AStopWhileSizesAreTriedKeepsThoseThatWere) {
  CalibrationSettings settings = quick({8, 16, 32});
  Bytes tried = 0;
  settings.observe = [&](Bytes bytes, CostVariant, int) { tried = bytes; };
  settings.stop_requested = [&] { return tried == 32; };
  const Pretended run(settings);
  EXPECT_TRUE(run.costs.stopped);
  EXPECT_THAT(sizes_of(run.costs.variants[0]), ElementsAre(8, 16));
}

TEST(Calibrate, SizesAreTriedFromTheSmallestOn) {
  CalibrationSettings settings = quick({8, 16, 32});
  std::vector<Bytes> tried;
  settings.observe = [&](Bytes bytes, CostVariant, int round) {
    if (round < 0) tried.push_back(bytes);
  };
  const Pretended run(settings);
  EXPECT_EQ(tried, settings.sizes);
}

TEST(Calibrate, AStopAtTheStartGivesNoPoints) {
  CalibrationSettings settings = quick({8});
  settings.stop_requested = [] { return true; };
  const auto control = alone();
  const auto device = make_host_device();
  const MeasuredCosts costs = calibrate_copy(*control, device.get(), settings);
  EXPECT_TRUE(costs.stopped);
  EXPECT_THAT(costs.variants[0].points, IsEmpty());
}

// Each all-reduce takes so long for a byte.
class Slow : public PretendedRanks {
 public:
  explicit Slow(double ns_per_byte) : PretendedRanks(2, nullptr, {}), ns_per_byte_(ns_per_byte) {}
  void all_reduce(std::byte*, std::size_t count, DType, Stream& stream) override {
    const double ns = ns_per_byte_ * static_cast<double>(count * sizeof(float));
    as_host(stream).enqueue([ns] { sleep_until(now() + static_cast<Stamp>(ns)); });
  }

 private:
  double ns_per_byte_;
};

MeasuredCosts with_budget(Nanoseconds budget, CalibrationSettings settings) {
  settings.budget_ns = budget;
  const auto control = alone();
  const auto device = make_host_device();
  Slow communicator(1000);  // 1 KiB: 1 ms
  return calibrate_collective(*control, device.get(), &communicator, Collective::kAllReduce,
                              settings);
}

TEST(Calibrate, SizesThatTheBudgetCannotHoldAreLeftOutFromTheLargestOn) {
  const MeasuredCosts costs = with_budget(3e9, quick({64, 1024, 4096, Bytes{1} << 20, 1 << 21}));
  EXPECT_THAT(costs.variants[0].left_out, ElementsAre(1 << 20, 1 << 21));
  EXPECT_THAT(sizes_of(costs.variants[0]), ElementsAre(64, 1024, 4096));
}

TEST(Calibrate, EachVariantLeavesOutWhatItHasNoTimeFor) {
  // Alone one repetition of 262 ms will do, back to back it takes two; each variant has 400 ms.
  CalibrationSettings settings = quick({1 << 15, 1 << 18});
  settings.variants = {CostVariant::kIsolated, CostVariant::kBackToBack};
  const MeasuredCosts costs = with_budget(1.6e9, settings);
  EXPECT_THAT(costs.variants[0].left_out, IsEmpty());
  EXPECT_THAT(costs.variants[1].left_out, ElementsAre(1 << 18));
}

TEST(Calibrate, AFirstSizeLongerThanTheBudgetIsTriedUnderOneConditionAtMost) {
  CalibrationSettings settings = quick({1 << 20, 1 << 21});
  settings.variants = {CostVariant::kIsolated, CostVariant::kBackToBack};
  const MeasuredCosts costs = with_budget(2e9, settings);  // two of 1049 ms do not fit
  EXPECT_THAT(sizes_of(costs.variants[0]), ElementsAre(1 << 20));
  EXPECT_THAT(costs.variants[0].left_out, ElementsAre(1 << 21));
  EXPECT_THAT(costs.variants[1].points, IsEmpty());
  EXPECT_THAT(costs.variants[1].left_out, ElementsAre(1 << 20, 1 << 21));
}

// The control plane of a rank that hears from rank 0 what all go by.
class ToldByRank0 : public ControlPlane {
 public:
  explicit ToldByRank0(double told) : told_(told) {}
  [[nodiscard]] int rank() const override { return 1; }
  [[nodiscard]] int size() const override { return 2; }
  [[nodiscard]] std::string local_address() const override { return ""; }
  [[nodiscard]] bool single_host() const override { return true; }
  void barrier() override {}
  std::vector<std::string> all_gather(std::string_view mine) override {
    return {std::string(mine)};
  }
  std::string broadcast(std::string_view) override {
    return {reinterpret_cast<const char*>(&told_), sizeof told_};
  }
  void set(const std::string&, std::string_view) override {}
  std::string get(const std::string&) override { return ""; }
  void set_phase(std::string_view) override {}
  void set_group(std::int64_t) override {}
  std::string report_failure(const std::string& message) override { return message; }
  ClockSample sample_clock() override { return {}; }

 private:
  double told_;
};

TEST(Calibrate, RanksGoByTheBudgetOfRank0) {
  ToldByRank0 control(1e9);  // half of it is less than the second that two of the larger size take
  const auto device = make_host_device();
  Slow communicator(1000);
  CalibrationSettings settings = quick({1 << 14, 1 << 19});
  settings.budget_ns = 1e12;
  const MeasuredCosts costs =
      calibrate_collective(control, device.get(), &communicator, Collective::kAllReduce, settings);
  EXPECT_THAT(costs.variants[0].left_out, ElementsAre(1 << 19));
}

TEST(Calibrate, ExpensiveSizesGetFewerRounds) {
  CalibrationSettings settings = quick({1 << 14, 1 << 16});
  settings.rounds = 20;
  const MeasuredCosts costs = with_budget(1e9, settings);
  const auto& points = costs.variants[0].points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_LT(points[1].repetitions, 2 * settings.rounds);
  EXPECT_GE(points[1].repetitions, 2) << "but each is measured";
}

TEST(Calibrate, CopiesAreMeasuredBackToBackOnly) {
  CalibrationSettings settings = quick({52, 4096});
  settings.variants = {CostVariant::kIsolated};
  const auto control = alone();
  const auto device = make_host_device();
  const MeasuredCosts costs = calibrate_copy(*control, device.get(), settings);
  ASSERT_EQ(costs.variants.size(), 1U);
  EXPECT_EQ(costs.variants[0].variant, CostVariant::kBackToBack);
  EXPECT_EQ(sizes_of(costs.variants[0]), settings.sizes);
}

TEST(Calibrate, NoSizesGiveNothing) {
  const Pretended run(quick({}));
  EXPECT_THAT(run.costs.variants, IsEmpty());
  EXPECT_THAT(run.log.entries(), IsEmpty());
}

TEST(Calibrate, LayerTimesAreOnePerTensor) {
  const auto control = alone();
  const auto device = make_host_device();
  LoggingCompute compute(nullptr);
  PretendedRanks communicator(1, nullptr, {});
  Replayer replayer(*device, communicator, compute, {4, 8, 0}, Buffers::kSlice, {});
  const auto times = measure_layers(*control, &replayer, 3);
  EXPECT_EQ(times.backward_ns.size(), 3U);
  for (const Nanoseconds time : times.backward_ns) EXPECT_GE(time, 0);
}

}  // namespace
}  // namespace mergewise
