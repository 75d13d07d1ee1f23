// SPDX-License-Identifier: Apache-2.0
#include "bench/app/link_speed.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace mergewise {
namespace {

class LinkSpeed : public ::testing::Test {
 protected:
  // A folder like /sys/class/net with one interface of this speed.
  std::filesystem::path stating(const std::string& speed) {
    std::filesystem::create_directories(folder_ / "eth0");
    std::ofstream(folder_ / "eth0" / "speed") << speed << "\n";
    return folder_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) /
                                  ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(LinkSpeed, IsStatedInMegabits) {
  EXPECT_EQ(link_gbps("eth0", stating("10000")), 10.0);
  EXPECT_EQ(link_gbps("eth0", stating("100")), 0.1);
}

TEST_F(LinkSpeed, IsUnknownWhereTheDriverSaysSo) {
  EXPECT_FALSE(link_gbps("eth0", stating("-1")).has_value());
  EXPECT_FALSE(link_gbps("eth0", stating("0")).has_value());
  EXPECT_FALSE(link_gbps("eth0", stating("")).has_value());
}

TEST_F(LinkSpeed, IsUnknownForNoInterface) {
  EXPECT_FALSE(link_gbps("eth7", stating("10000")).has_value());
  EXPECT_FALSE(link_gbps("", stating("10000")).has_value());
}

TEST_F(LinkSpeed, InterfacesAreFoundByTheirAddress) {
  EXPECT_EQ(interface_of("127.0.0.1"), "lo");
  EXPECT_EQ(interface_of("192.0.2.77"), "") << "an address for documentation: nobody has it";
}

}  // namespace
}  // namespace mergewise
