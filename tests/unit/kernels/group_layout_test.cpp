// SPDX-License-Identifier: Apache-2.0
#include "kernels/primitives/group_layout.hpp"

#include "kernels/primitives/sample.hpp"

#include <gtest/gtest.h>

#include <set>

namespace mergewise {
namespace {

/// Chunks are of one tensor each and cover every element once, in order; draws of a chunk begin
/// where a call of philox() does.
void expect_cover(const GroupView& group) {
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < group.chunk_count; ++i) {
    const Chunk chunk = chunk_of(group, i);
    ASSERT_EQ(chunk.begin, next);
    ASSERT_GE(chunk.count, 1U);
    ASSERT_LE(chunk.count, kChunk);
    ASSERT_EQ(chunk.offset % kDrawsPerBlock, 0U);
    ASSERT_EQ(tensor_of(group, chunk.begin), chunk.tensor);
    ASSERT_EQ(tensor_of(group, chunk.begin + chunk.count - 1), chunk.tensor);
    ASSERT_LE(chunk.begin + chunk.count,
              begin_of(group, chunk.tensor) + count_of(group, chunk.tensor));
    next += chunk.count;
  }
  EXPECT_EQ(next, group.elements);
}

TEST(GroupLayout, ChunksCoverTensorsAndPieces) {
  for (const std::vector<std::size_t>& sizes : std::vector<std::vector<std::size_t>>{
           {}, {0, 0}, {1}, {4096}, {4097}, {3, 0, 9000, 1}, {512, 8191, 7}}) {
    const GroupLayout group(5, sizes);
    expect_cover(group.view());
    expect_cover(as_one_piece(group.view()));
    for (const std::uint64_t piece : {8U, 64U, 512U, 4096U, 5000U})
      expect_cover(group.pieces(piece));
  }
}

TEST(GroupLayout, LeavesEmptyTensorsOutAndKnowsVectors) {
  const GroupLayout group(7, {0, 3, 0, 2, 4}, {true, true, false, false, true});
  EXPECT_EQ(group.tensors(), 3U);
  EXPECT_EQ(group.vector_elements(), 7U);
  const GroupView view = group.view();
  EXPECT_EQ(view.ids[0], 8U);
  EXPECT_EQ(view.ids[1], 10U);
  EXPECT_EQ(view.first_id, 8U);
  EXPECT_EQ(group.vector_begins()[1], 3U);
  EXPECT_EQ(group.vector_begins()[2], 3U);
}

// The arithmetic of groups beyond 32 bits, without their memory.
TEST(GroupLayout, CountsBeyondThirtyTwoBits) {
  const std::uint64_t n = (std::uint64_t{1} << 33) + 5;
  const GroupView group = as_one_piece({nullptr, nullptr, nullptr, n, 0, 0, 0, 0});
  ASSERT_EQ(group.chunk_count, n / kChunk + 1);
  const Chunk last = chunk_of(group, group.chunk_count - 1);
  EXPECT_EQ(last.begin, n - 5);
  EXPECT_EQ(last.count, 5U);
  EXPECT_EQ(tensor_of(group, n - 1), 0U);
}

TEST(Sample, IsOfAHundredthAndTakesNoPlaceTwice) {
  for (const std::uint64_t n : {1U, 2U, 255U, 256U, 257U, 1000U, 25600U, 25601U, 99999U}) {
    const Sample sample = sample_of(n, 0.01, 123456789);
    std::set<std::uint64_t> places;
    for (std::uint64_t j = 0; j < sample.count; ++j) places.insert(sample.place(j));
    EXPECT_EQ(places.size(), sample.count) << n;
    EXPECT_LT(*places.rbegin(), n);
    EXPECT_GE(100 * sample.count, n);
    EXPECT_GE(sample.selected, 1U);
    EXPECT_LE(sample.selected, sample.count);
  }
}

TEST(Sample, OfManyElementsStaysInside) {
  const std::uint64_t n = (std::uint64_t{1} << 38) + 11;
  const Sample sample = sample_of(n, 0.001, 0xFFFFFFFF);
  for (const std::uint64_t j : {std::uint64_t{0}, sample.count / 2, sample.count - 1}) {
    EXPECT_LT(sample.place(j), n);
  }
  EXPECT_NE(sample.place(sample.count - 1), sample.place(sample.count - 2));
}

}  // namespace
}  // namespace mergewise
