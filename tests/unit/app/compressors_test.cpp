// SPDX-License-Identifier: Apache-2.0
#include "bench/app/compressors.hpp"

#include "bench/app/simulation.hpp"
#include "bench/app/vocabulary.hpp"
#include "bench/cost/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

TEST(Compressors, AreThoseWhoseMessagesAreKnown) {
  std::vector<std::string> ids;
  for (const CompressorEntry& entry : compressors()) ids.push_back(entry.id);
  EXPECT_EQ(ids, compressor_ids());
}

TEST(Compressors, ASimulationTakesAllAndARunThoseThatAreReplayed) {
  EXPECT_THAT(vocabulary().compressors, ElementsAre(Key("none")));
  for (const CompressorEntry& entry : compressors()) {
    EXPECT_TRUE(simulation_vocabulary().compressors.contains(entry.id));
    EXPECT_EQ(vocabulary().compressors.contains(entry.id), entry.replayed);
    EXPECT_THAT(entry.summary, HasSubstr(entry.replayed ? "replayed" : "in the model only"));
  }
}

}  // namespace
}  // namespace mergewise
