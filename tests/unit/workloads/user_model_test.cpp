// SPDX-License-Identifier: Apache-2.0
// Reading a user's own model.
#include "bench/core/error.hpp"
#include "workloads/workload.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace mergewise {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class UserModel : public testing::Test {
 protected:
  void SetUp() override {
    file_ = std::filesystem::path(testing::TempDir()) /
            (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".yaml");
  }
  void TearDown() override { std::filesystem::remove(file_); }

  Workload load(const std::string& tensors, const std::string& head = "forward_ns: 10\n") {
    std::ofstream(file_) << "schema: mergewise/model/1\nname: mine\n" << head << tensors;
    return load_user_model(file_).workload;
  }
  std::string refusal(const std::string& tensors, const std::string& head = "forward_ns: 10\n") {
    try {
      static_cast<void>(load(tensors, head));
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path file_;
};

TEST_F(UserModel, ReadsTheShippedExample) {
  const Workload workload =
      load_user_model(MERGEWISE_SOURCE_DIR "/configs/models/example.yaml").workload;
  EXPECT_EQ(workload.name, "example");
  EXPECT_EQ(workload.batch, 32);
  ASSERT_EQ(workload.tensors.size(), 6U);
  EXPECT_NEAR(workload.forward_ns, 9.5e6, 1e-6);
  EXPECT_EQ(workload.tensors[0].layer, "head");
  EXPECT_EQ(workload.tensors[1].bytes, 4 * 512000);
  EXPECT_DOUBLE_EQ(workload.tensors[2].backward_ns, 7e6);
  EXPECT_THAT(workload.tensors[3].shape, ElementsAre(512));
  EXPECT_EQ(workload.tensors[3].layer, "block2");
  EXPECT_TRUE(workload.layers.empty());
  EXPECT_TRUE(workload.backward_layers.empty());
  EXPECT_THAT(workload.times_from, HasSubstr("example.yaml"));
}

TEST_F(UserModel, DividesTheForwardTimeAsTheBackwardTime) {
  const Workload workload =
      load("tensors: [{name: a, bytes: 4, backward_ns: 3}, {name: b, bytes: 4, backward_ns: 1}]\n");
  EXPECT_DOUBLE_EQ(workload.tensors[0].forward_ns, 7.5);
  EXPECT_DOUBLE_EQ(workload.tensors[1].forward_ns, 2.5);
  EXPECT_DOUBLE_EQ(workload.forward_ns, 10);
}

TEST_F(UserModel, DividesTheForwardTimeEvenlyWithoutBackwardTime) {
  const Workload workload =
      load("tensors: [{name: a, bytes: 4, backward_ns: 0}, {name: b, bytes: 4, backward_ns: 0}]\n");
  EXPECT_DOUBLE_EQ(workload.tensors[0].forward_ns, 5);
  EXPECT_DOUBLE_EQ(workload.forward_ns, 10);
}

TEST_F(UserModel, KeepsTheForwardTimesThatAllTensorsHave) {
  const Workload workload = load(
      "tensors: [{name: a, bytes: 4, backward_ns: 3, forward_ns: 1},"
      " {name: b, bytes: 4, backward_ns: 1, forward_us: 0.009}]\n");
  EXPECT_DOUBLE_EQ(workload.tensors[0].forward_ns, 1);
  EXPECT_DOUBLE_EQ(workload.tensors[1].forward_ns, 9);
  EXPECT_DOUBLE_EQ(workload.forward_ns, 10);
}

TEST_F(UserModel, RefusesForwardTimesOfSomeTensorsOrOfAnotherSum) {
  EXPECT_THAT(refusal("tensors: [{name: a, bytes: 4, backward_ns: 3, forward_ns: 10},"
                      " {name: b, bytes: 4, backward_ns: 1}]\n"),
              AllOf(HasSubstr("'b' has no forward time"), HasSubstr("all tensors or of none")));
  EXPECT_THAT(refusal("tensors: [{name: a, bytes: 4, backward_ns: 3},"
                      " {name: b, bytes: 4, backward_ns: 1, forward_ns: 10}]\n"),
              HasSubstr("'a' has no forward time"));
  EXPECT_THAT(refusal("tensors: [{name: a, bytes: 4, backward_ns: 3, forward_ns: 11}]\n"),
              AllOf(HasSubstr("add up to 11"), HasSubstr("10")));
}

TEST_F(UserModel, SaysWhereItsTimesComeFrom) {
  const std::string tensors = "tensors: [{name: a, bytes: 4, backward_ns: 3}]\n";
  EXPECT_EQ(load(tensors).times, TimesKind::kGiven);
  EXPECT_THAT(load(tensors).times_from, HasSubstr(file_.string()));
  const Workload measured = load(tensors, "forward_ns: 1\ntimes: measured\nsource: my run\n");
  EXPECT_EQ(measured.times, TimesKind::kMeasured);
  EXPECT_EQ(measured.times_from, "my run");
  EXPECT_THAT(refusal(tensors, "forward_ns: 1\ntimes: measurde\n"),
              AllOf(HasSubstr(":4:8:"), HasSubstr("'measured'")));
}

TEST_F(UserModel, TakesOneTensorAndEmptyOnes) {
  EXPECT_EQ(load("tensors: [{name: a, bytes: 0, backward_us: 2}]\n").tensors.at(0).bytes, 0);
  const Workload workload = load("tensors: [{name: a, shape: [3, 0], backward_us: 2}]\n");
  EXPECT_EQ(workload.tensors.at(0).bytes, 0);
  EXPECT_DOUBLE_EQ(workload.tensors.at(0).backward_ns, 2000);
  EXPECT_EQ(workload.tensors.at(0).layer, "a");
  EXPECT_EQ(workload.batch, 1);
  EXPECT_EQ(load("tensors: [{name: a, shape: [], backward_ns: 0}]\n").tensors.at(0).bytes, 4);
}

TEST_F(UserModel, RefusesAModelWithoutTensors) {
  EXPECT_THAT(refusal("tensors: []\n"), AllOf(HasSubstr(":4:10:"), HasSubstr("no tensors")));
  EXPECT_THAT(refusal(""), HasSubstr("tensors"));
}

TEST_F(UserModel, RefusesWhatIsWrongAtItsPlace) {
  EXPECT_THAT(refusal("tensors:\n  - {name: a, byte: 4, backward_ns: 1}\n"),
              AllOf(HasSubstr(":5:15:"), HasSubstr("'byte'"), HasSubstr("bytes")));
  EXPECT_THAT(refusal("tensors:\n  - {name: a, bytes: 6, backward_ns: 1}\n"),
              AllOf(HasSubstr(":5:22:"), HasSubstr("'6'")));
  EXPECT_THAT(refusal("tensors:\n  - {name: a, bytes: -4, backward_ns: 1}\n"), HasSubstr(":5:22:"));
  EXPECT_THAT(refusal("tensors:\n  - {name: a, bytes: 4, backward_ns: -1}\n"), HasSubstr("'-1'"));
  EXPECT_THAT(refusal("tensors:\n  - {name: a, bytes: 4, backward_ns: .inf}\n"),
              HasSubstr(":5:38:"));
  EXPECT_THAT(refusal("tensors:\n  - {name: '', bytes: 4, backward_ns: 1}\n"), HasSubstr(":5:12:"));
}

TEST_F(UserModel, RefusesMissingAndContradictingKeys) {
  EXPECT_THAT(refusal("tensors: [{name: a, backward_ns: 1}]\n"), HasSubstr("shape or bytes"));
  EXPECT_THAT(refusal("tensors: [{name: a, bytes: 4, shape: [1], backward_ns: 1}]\n"),
              HasSubstr("exactly one"));
  EXPECT_THAT(refusal("tensors: [{name: a, bytes: 4}]\n"), HasSubstr("backward_ns"));
  EXPECT_THAT(refusal("tensors: [{name: a, bytes: 4, backward_ns: 1, backward_ms: 1}]\n"),
              HasSubstr("second backward time"));
  EXPECT_THAT(refusal("tensors: [{name: a, bytes: 4, backward_ns: 1}]\n", ""),
              HasSubstr("forward_ns"));
}

TEST_F(UserModel, RefusesATensorGivenTwice) {
  EXPECT_THAT(refusal("tensors:\n  - {name: a, bytes: 4, backward_ns: 1}\n"
                      "  - {name: a, bytes: 4, backward_ns: 1}\n"),
              AllOf(HasSubstr(":6:12:"), HasSubstr(":5:5"), HasSubstr("'a'")));
}

TEST_F(UserModel, RefusesSizesThatOverflow) {
  EXPECT_THAT(refusal("tensors: [{name: a, shape: [1048576, 1048577], backward_ns: 1}]\n"),
              HasSubstr("2^40"));
  std::string many = "tensors:\n";
  for (int index = 0; index < 257; ++index) {
    many += "  - {name: t" + std::to_string(index) + ", bytes: 4398046511104, backward_ns: 1}\n";
  }
  EXPECT_THAT(refusal(many), AllOf(HasSubstr(":261:5:"), HasSubstr("2^50")));
}

TEST_F(UserModel, RefusesNamesThatCouldSteerATerminal) {
  EXPECT_THAT(refusal("tensors: [{name: \"a\\e[31m\", bytes: 4, backward_ns: 3}]\n"),
              HasSubstr("control characters"));
  EXPECT_THAT(refusal("tensors: [{name: \"a\\nb\", bytes: 4, backward_ns: 3}]\n"),
              HasSubstr("control characters"));
}

TEST_F(UserModel, RefusesPassesThatLastTooLong) {
  EXPECT_THAT(refusal("tensors: [{name: a, bytes: 4, backward_ns: 6e14},"
                      " {name: b, bytes: 4, backward_ns: 6e14}]\n"),
              HasSubstr("10^15 ns"));
}

TEST_F(UserModel, RefusesAnUnknownSchemaAndAMissingFile) {
  std::ofstream(file_) << "schema: mergewise/model/2\nname: a\nforward_ns: 0\ntensors: []\n";
  EXPECT_THROW(static_cast<void>(load_user_model(file_)), InputError);
  EXPECT_THROW(static_cast<void>(load_user_model("missing.yaml")), InputError);
}

}  // namespace
}  // namespace mergewise
