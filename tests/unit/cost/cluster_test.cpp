// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/cluster.hpp"

#include "bench/core/error.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::filesystem::path kShipped =
    std::filesystem::path(MERGEWISE_SOURCE_DIR) / "configs/clusters";

Cluster flat(const LinkCosts& network) {
  Cluster cluster;
  cluster.name = "flat";
  cluster.network = network;
  return cluster;
}

Cluster boxes(int gpus, const LinkCosts& network, const LinkCosts& inside) {
  Cluster cluster = flat(network);
  cluster.gpus_per_node = gpus;
  cluster.node = inside;
  return cluster;
}

const CostModel& all_reduce(const CollectiveCosts& costs) { return costs.all_reduce->planning(); }
const CostModel& all_gather(const CollectiveCosts& costs) { return costs.all_gather->planning(); }
const CostModel& reduce_scatter(const CollectiveCosts& costs) {
  return costs.reduce_scatter->planning();
}

TEST(CostsOf, IsTheBestOfRingTreeAndHalvingDoublingForEachSize) {
  const LinkCosts link{1000, 1, 0.1};
  const CollectiveCosts costs = costs_of(flat(link), 12);
  for (Bytes bytes = 1; bytes < 1'000'000'000; bytes *= 3) {
    double least = 1e300;
    for (const Algorithm algorithm :
         {Algorithm::kRing, Algorithm::kTree, Algorithm::kHalvingDoubling}) {
      least = std::min(least, CostModel(all_reduce_line(algorithm, link, 12))(bytes));
    }
    EXPECT_DOUBLE_EQ(all_reduce(costs)(bytes), least) << bytes;
  }
}

TEST(CostsOf, IsALineWhereOneAlgorithmIsBestForAllSizes) {
  // Between a power of two of ranks halving-doubling has the ring's bandwidth and fewer messages.
  const LinkCosts link{1000, 1, 0};
  const CollectiveCosts costs = costs_of(flat(link), 8);
  ASSERT_NE(all_reduce(costs).linear(), nullptr);
  EXPECT_EQ(*all_reduce(costs).linear(), all_reduce_line(Algorithm::kHalvingDoubling, link, 8));
}

TEST(CostsOf, KeepsToTheAlgorithmThatTheClusterNames) {
  const LinkCosts link{1000, 1, 0};
  Cluster cluster = flat(link);
  cluster.algorithm = Algorithm::kRing;
  const CollectiveCosts costs = costs_of(cluster, 8);
  EXPECT_EQ(*all_reduce(costs).linear(), all_reduce_line(Algorithm::kRing, link, 8));
  EXPECT_EQ(*all_gather(costs).linear(), all_gather_line(Algorithm::kRing, link, 8));
}

TEST(CostsOf, OneRankIsNothing) {
  const CollectiveCosts costs = costs_of(flat({1000, 1, 1}), 1);
  EXPECT_TRUE(all_reduce(costs).is_zero());
  EXPECT_TRUE(all_gather(costs).is_zero());
  EXPECT_TRUE(reduce_scatter(costs).is_zero());
}

TEST(CostsOf, InsideOneNodeDoesNotTouchTheNetwork) {
  const LinkCosts inside{3, 0.01, 0};
  const Cluster cluster = boxes(8, {1e9, 1e3, 0}, inside);
  EXPECT_EQ(costs_of(cluster, 8), costs_of(flat(inside), 8));
  EXPECT_EQ(costs_of(cluster, 3), costs_of(flat(inside), 3));
}

TEST(CostsOf, BetweenNodesSharesTheNetworkOfANode) {
  // 2 nodes of 4 GPUs: inside 3 messages and 3/4 M each way; between, 1 message each way for the
  // two nodes by halving-doubling, through which all M bytes of a node pass.
  const Cluster cluster = boxes(4, {1000, 1, 0.4}, {10, 0.1, 0.4});
  const CollectiveCosts costs = costs_of(cluster, 8);
  const double a = 3 * 10 + 2 * 1000 + 3 * 10;
  const double b = 0.75 * (0.1 + 0.4) + (2 * 1.0 / 2 * 1 + 0.4 / 4 / 2) + 0.75 * 0.1;
  EXPECT_DOUBLE_EQ(all_reduce(costs)(1000), a + b * 1000);
  // Each GPU contributes M: 4 M through the network, then 2 M from each of three neighbours.
  EXPECT_DOUBLE_EQ(all_gather(costs)(1000), 1000 + 3 * 10 + (4 * 1 + 3 * 2 * 0.1) * 1000);
  EXPECT_DOUBLE_EQ(reduce_scatter(costs)(1000),
                   3 * 10 + 1000 + (0.75 * 0.5 + 0.5 * (1 + 0.1)) * 1000);
}

TEST(CostsOf, FallsBackToAFlatRingWhereThatIsCheaper) {
  // Inside the nodes is no faster than between: going through it twice only costs.
  const LinkCosts link{1, 1, 0};
  const CollectiveCosts costs = costs_of(boxes(4, link, link), 8);
  EXPECT_DOUBLE_EQ(all_reduce(costs)(1'000'000),
                   CostModel(all_reduce_line(Algorithm::kRing, link, 8))(1'000'000));
}

TEST(CostsOf, RefusesANodeThatIsPartlyFilled) {
  EXPECT_THAT(
      [] {
        (void)costs_of(boxes(8, {1, 1, 0}, {1, 1, 0}), 12);
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("'flat' has 8 GPUs a node"),
                                      HasSubstr("12 would fill the last node in part"))));
  EXPECT_THROW((void)costs_of(flat({1, 1, 0}), 0), InputError);
}

TEST(CostsOf, PublishedLinesAreForTheirNumbersOfRanksOnly) {
  Cluster cluster = flat({});
  cluster.all_reduce[4] = {100, 2};
  cluster.all_gather[16] = {50, 3};
  EXPECT_EQ(*all_reduce(costs_of(cluster, 4)).linear(), (LinearCost{100, 2}));
  EXPECT_FALSE(costs_of(cluster, 4).all_gather.has_value());
  EXPECT_THAT([&] { (void)costs_of(cluster, 8); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("no published costs between 8 GPUs"),
                                              HasSubstr("all-reduce 4; all-gather 16"))));
  EXPECT_THROW((void)with_bandwidth(cluster, 10), InputError);
}

TEST(WithBandwidth, ChangesOnlyTheNetwork) {
  const Cluster cluster = boxes(8, {7, 1, 0.5}, {1, 1, 0});
  const Cluster faster = with_bandwidth(cluster, 100);
  EXPECT_EQ(faster.network, (LinkCosts{7, 0.08, 0.5}));
  EXPECT_EQ(faster.node, cluster.node);
  EXPECT_THROW((void)with_bandwidth(cluster, 0), InputError);
}

// Each node must send and receive 2 (N-1)/N of the data through its network, and each GPU 2 (P-1)/P
// through the faster of its links.
double all_reduce_bound(const Cluster& cluster, int ranks) {
  const int gpus = cluster.gpus_per_node;
  const double beta = cluster.network.beta_ns_per_byte;
  const double all = 2.0 * (ranks - 1) / ranks;
  if (gpus == 1) return all * beta;
  if (ranks <= gpus) return all * cluster.node->beta_ns_per_byte;
  const int nodes = ranks / gpus;
  return std::max(2.0 * (nodes - 1) / nodes * beta,
                  all * std::min(beta, cluster.node->beta_ns_per_byte));
}

void expect_sound(const Cluster& cluster, int ranks) {
  SCOPED_TRACE(testing::Message() << ranks << " ranks, " << cluster.gpus_per_node << " a node");
  const CollectiveCosts costs = costs_of(cluster, ranks);
  const double bound = all_reduce_bound(cluster, ranks);
  double reduced = 0;
  double gathered = 0;
  double scattered = 0;
  for (Bytes bytes = 0; bytes < Bytes{1} << 33; bytes = bytes * 5 + 1) {
    const auto size = static_cast<double>(bytes);
    ASSERT_GE(all_reduce(costs)(bytes), bound * size * (1 - 1e-12));
    ASSERT_GE(reduce_scatter(costs)(bytes), bound / 2 * size * (1 - 1e-12));
    ASSERT_GE(all_gather(costs)(bytes), bound / 2 * size * ranks * (1 - 1e-12));
    ASSERT_GE(all_reduce(costs)(bytes), reduced);
    ASSERT_GE(all_gather(costs)(bytes), gathered);
    ASSERT_GE(reduce_scatter(costs)(bytes), scattered);
    reduced = all_reduce(costs)(bytes);
    gathered = all_gather(costs)(bytes);
    scattered = reduce_scatter(costs)(bytes);
  }
}

TEST(CostsOf, NeverFallsWithTheSizeNorBelowTheBandwidthBound) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> exponent(-3, 3);
  const auto link = [&] {
    return LinkCosts{1e3 * std::pow(10, exponent(random)), std::pow(10, exponent(random)),
                     std::pow(10, exponent(random))};
  };
  for (int round = 0; round < 400; ++round) {
    Cluster cluster = flat(link());
    expect_sound(cluster, std::uniform_int_distribution<int>(2, 4096)(random));
    cluster.gpus_per_node = 1 << std::uniform_int_distribution<int>(1, 4)(random);
    cluster.node = link();
    expect_sound(cluster, std::uniform_int_distribution<int>(2, cluster.gpus_per_node)(random));
    const int nodes = std::uniform_int_distribution<int>(1, 4096 / cluster.gpus_per_node)(random);
    expect_sound(cluster, nodes * cluster.gpus_per_node);
  }
}

TEST(ShippedClusters, LoadAndCostSomethingReasonableForAnyNumberOfNodes) {
  const auto ids = cluster_ids(kShipped);
  EXPECT_GE(ids.size(), 15U);
  for (const std::string& id : ids) {
    SCOPED_TRACE(id);
    const Cluster cluster = load_cluster(id, kShipped);
    EXPECT_EQ(cluster.name, id);
    if (cluster.published()) continue;
    for (int nodes = 2; nodes * cluster.gpus_per_node <= 4096; nodes *= 2) {
      expect_sound(cluster, nodes * cluster.gpus_per_node);
    }
  }
}

class ClusterFile : public ::testing::Test {
 protected:
  Cluster load(const std::string& text) {
    const auto file = folder_.path() / "mine.yaml";
    std::ofstream(file) << "schema: mergewise/cluster/1\nname: mine\ndescription: d\n" << text;
    return load_cluster(file.string(), folder_.path());
  }
  // Lines count from the three that load() writes.
  void expect_error(const std::string& text, const std::string& place, const std::string& message) {
    EXPECT_THAT(
        [&] { (void)load(text); },
        ThrowsMessage<InputError>(AllOf(HasSubstr("mine.yaml:" + place), HasSubstr(message))))
        << text;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(ClusterFile, SaysItsLinks) {
  const Cluster cluster = load(
      "source: s\ngpus_per_node: 8\nalgorithm: tree\n"
      "network: {alpha_us: 5, gbps: 100}\n"
      "node: {alpha_ns: 700, gbps: 800, gamma_ns_per_byte: 0.25}\n");
  EXPECT_EQ(cluster.gpus_per_node, 8);
  EXPECT_EQ(cluster.algorithm, Algorithm::kTree);
  EXPECT_EQ(cluster.network, (LinkCosts{5000, 0.08, 0}));
  EXPECT_EQ(cluster.node, (LinkCosts{700, 0.01, 0.25}));
}

TEST_F(ClusterFile, OrPublishedLines) {
  const Cluster cluster = load(
      "source: s\nall_reduce:\n  - {ranks: 4, a_us: 1.5, b_ns_per_byte: 2}\n"
      "all_gather:\n  - {ranks: 8, a_ns: 3, b_ns_per_byte: 4}\n");
  EXPECT_TRUE(cluster.published());
  EXPECT_EQ(cluster.all_reduce.at(4), (LinearCost{1500, 2}));
  EXPECT_EQ(cluster.all_gather.at(8), (LinearCost{3, 4}));
}

TEST_F(ClusterFile, EveryErrorNamesItsPlace) {
  const std::string network = "source: s\nnetwork: {alpha_us: 5, gbps: 100}\n";
  expect_error("network: {alpha_us: 5, gbps: 100}\n", "1:1", "source");
  expect_error("source: ''\n", "4:9", "'source' is empty");
  expect_error("source: s\n", "1:1", "network");
  expect_error("source: s\nnetwork: {gbps: 1}\n", "5:10",
               "expected either 'alpha_us' or 'alpha_ns'");
  expect_error("source: s\nnetwork: {alpha_us: 1, alpha_ns: 1, gbps: 1}\n", "5:10",
               "expected either");
  expect_error("source: s\nnetwork: {alpha_us: 1, gbps: 0}\n", "5:30", "'0'");
  expect_error("source: s\nnetwork: {alpha_us: -1, gbps: 1}\n", "5:21", "'-1'");
  expect_error(network + "gpu_per_node: 8\n", "6:1", "gpus_per_node");
  expect_error(network + "gpus_per_node: 8\n", "6:16", "need 'node'");
  expect_error(network + "node: {alpha_us: 1, gbps: 1}\n", "6:7", "one GPU a node");
  expect_error(network + "algorithm: rign\n", "6:12", "did you mean 'ring'");
  expect_error(network + "algorithm: double_tree_published\n", "6:12", "unknown algorithm");
  expect_error(network + "all_reduce: [{ranks: 2, a_us: 1, b_ns_per_byte: 1}]\n", "5:10",
               "one or the other");
  expect_error("source: s\nall_reduce: []\n", "5:13", "empty");
  expect_error("source: s\nall_reduce: [{ranks: 1, a_us: 1, b_ns_per_byte: 1}]\n", "5:22", "'1'");
  expect_error(
      "source: s\nall_reduce: [{ranks: 2, a_us: 1, b_ns_per_byte: 1}, {ranks: 2, a_us: 1, "
      "b_ns_per_byte: 1}]\n",
      "5:61", "a line for 2 ranks already");
}

TEST_F(ClusterFile, IsNamedAsItsFile) {
  TemporaryFolder folder;
  const auto file = folder.path() / "other.yaml";
  std::ofstream(file) << "schema: mergewise/cluster/1\nname: mine\n";
  EXPECT_THAT([&] { (void)load_cluster(file.string(), folder.path()); },
              ThrowsMessage<InputError>(HasSubstr("other.yaml:2:7")));
  EXPECT_THAT(cluster_ids(folder.path()), ElementsAre("other"));
  EXPECT_THAT([&] { (void)load_cluster("othr", folder.path()); },
              ThrowsMessage<InputError>(HasSubstr("did you mean 'other'")));
}

}  // namespace
}  // namespace mergewise
