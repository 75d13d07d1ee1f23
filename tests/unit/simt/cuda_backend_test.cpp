// SPDX-License-Identifier: Apache-2.0
#include "kernels/compress/cuda_backend.cuh"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace mergewise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DeviceLayouts, AreCopiedOnce) {
  DeviceLayouts layouts;
  const GroupLayout group(4, {3, 0, 5}, {true, false, false});
  const DeviceLayouts::Arrays arrays = layouts.of(group, nullptr);
  EXPECT_NE(arrays.begins, group.view().begins);
  EXPECT_THAT(std::vector(arrays.begins, arrays.begins + 3), ElementsAre(0, 3, 8));
  EXPECT_THAT(std::vector(arrays.vector_begins, arrays.vector_begins + 3), ElementsAre(0, 3, 3));
  EXPECT_THAT(std::vector(arrays.ids, arrays.ids + 2), ElementsAre(4, 6));
  EXPECT_EQ(arrays.chunks[1].begin, 3U);
  EXPECT_EQ(arrays.chunks[1].tensor, 1U);
  const GroupLayout copy = group;
  EXPECT_EQ(layouts.of(copy, nullptr).begins, arrays.begins);
  EXPECT_NE(layouts.of(GroupLayout(4, {3, 0, 5}), nullptr).begins, arrays.begins);
}

TEST(DeviceLayouts, StayAsLongAsTheirGroup) {
  DeviceLayouts layouts;
  std::optional<GroupLayout> kept(GroupLayout(0, {9}));
  const std::weak_ptr<const GroupArrays> arrays = kept->arrays();
  const DeviceLayouts::Arrays before = layouts.of(*kept, nullptr);
  (void)layouts.of(GroupLayout(0, {1}), nullptr);
  EXPECT_EQ(layouts.of(*kept, nullptr).begins, before.begins);
  kept.reset();
  EXPECT_FALSE(arrays.expired()) << "no other group gets the address meanwhile";
  (void)layouts.of(GroupLayout(0, {2}), nullptr);
  EXPECT_TRUE(arrays.expired());
}

TEST(DeviceLayouts, OfNothingAreFine) {
  DeviceLayouts layouts;
  EXPECT_EQ(*layouts.of(GroupLayout(0, {}), nullptr).begins, 0U);
}

TEST(DeviceMemory, GrowsAndNeverShrinks) {
  DeviceMemory memory;
  EXPECT_EQ(memory.at_least(0), nullptr);
  std::byte* const bytes = memory.at_least(100);
  EXPECT_EQ(memory.at_least(50), bytes);
  EXPECT_EQ(memory.size(), 100U);
  DeviceMemory moved = std::move(memory);
  EXPECT_EQ(moved.at_least(100), bytes);
  (void)moved.at_least(101);
  EXPECT_EQ(moved.size(), 101U);
}

TEST(DeviceMemory, SaysWhatFailed) {
  EXPECT_THAT([] { check_cuda(cudaErrorMemoryAllocation, "allocating 9 bytes of device memory"); },
              testing::ThrowsMessage<BackendError>(
                  HasSubstr("allocating 9 bytes of device memory failed: out of memory")));
}

}  // namespace
}  // namespace mergewise
