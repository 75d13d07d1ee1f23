// SPDX-License-Identifier: Apache-2.0
#include "bench/cost/profile.hpp"

#include "bench/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace mergewise {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A place in a message reads "p:LINE:COLUMN".
Profile read_text(const std::string& text) {
  return profile_from(parse_text(text, "p", kDataLimits));
}
Profile read(const json& document) { return read_text(document.dump()); }

json linear(double a, double b) { return {{"model", "linear"}, {"a_ns", a}, {"b_ns_per_byte", b}}; }

json tensor(const std::string& name, Bytes bytes, double backward_ns) {
  return {{"name", name}, {"bytes", bytes}, {"backward_ns", backward_ns}};
}

json small() {
  return {{"schema", kProfileSchema},
          {"name", "small"},
          {"forward_ns", 1000},
          {"tensors", {tensor("w", 400, 10.5), tensor("b", 40, 0)}},
          {"all_reduce", linear(100, 0.5)}};
}

std::string refusal(const std::string& text) {
  try {
    (void)read_text(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}
std::string refusal(const json& document) { return refusal(document.dump()); }

Profile full() {
  Profile profile;
  profile.name = std::string("full");
  profile.forward_ns = 0.1 + 0.2;
  profile.tensors = {{"w", 400, 1.0 / 3, 12.25, "fc", {10, 20}}, {"b", 0, 0, std::nullopt, "", {}}};
  profile.all_reduce.emplace();
  profile.all_reduce->isolated = LinearCost{1, 2.5e-3};
  profile.all_reduce->beside_compute = MeasuredCost{{{8, 100}, {1024, 90}, {4096, 1e9}}};
  profile.all_gather.emplace();
  profile.all_gather->back_to_back = LinearCost{5, 0};
  profile.reduce_scatter.emplace();
  profile.reduce_scatter->isolated = MeasuredCost{{{8, 0.125}}};
  profile.compressors["topk"] = {LinearCost{7, 0.1}, LinearCost{}};
  profile.compressor = std::string("topk");
  profile.density = 0.01;
  profile.compressor_options.set("memory", std::string("none"));
  profile.compressor_options.set("messages", std::int64_t{2});
  profile.ranks = 8;
  profile.grad_dtype = DType::kBfloat16;
  profile.options.set("cap_bytes", std::int64_t{26214400});
  profile.options.set("min_gain", 1.0);
  profile.options.set("prefetch", std::string("all"));
  profile.options.set("label", std::string("123"));
  profile.pack = LinearCost{1, 1};
  profile.unpack = LinearCost{2, 2};
  profile.update = MeasuredCost{{{1, 3}}};
  return profile;
}

TEST(Profile, ReadsTheSmallestForm) {
  const Profile profile = read(small());
  EXPECT_EQ(profile.name, "small");
  EXPECT_EQ(profile.forward_ns, 1000);
  ASSERT_EQ(profile.tensors.size(), 2U);
  EXPECT_EQ(profile.tensors[0].name, "w");
  EXPECT_EQ(profile.tensors[0].bytes, 400);
  EXPECT_EQ(profile.tensors[0].backward_ns, 10.5);
  EXPECT_FALSE(profile.tensors[0].forward_ns.has_value());
  ASSERT_TRUE(profile.all_reduce.has_value());
  EXPECT_EQ(profile.all_reduce->planning(), CostModel(LinearCost{100, 0.5}));
  EXPECT_FALSE(profile.all_gather.has_value());
  EXPECT_EQ(profile.compressor, "none");
  EXPECT_EQ(profile.grad_dtype, DType::kFloat32);
  EXPECT_TRUE(profile.pack.is_zero());
  EXPECT_THAT(profile.notes, IsEmpty());
}

TEST(Profile, ReadsYamlToo) {
  const Profile profile = read_text(R"(schema: mergewise/profile/1
name: small
forward_ns: 1000
tensors:
  - {name: w, bytes: 400, backward_ns: 10.5}
  - {name: b, bytes: 40, backward_ns: 0}
all_reduce: {model: linear, a_ns: 100, b_ns_per_byte: 0.5}
)");
  EXPECT_EQ(profile, read(small()));
}

TEST(Profile, RoundTripsThroughItsDocument) {
  const Profile profile = full();
  EXPECT_EQ(read(to_json(profile)), profile);
  EXPECT_EQ(read(to_json(read(small()))), read(small()));
}

TEST(Profile, ComparesEveryFieldButTheNotes) {
  Profile other = full();
  other.notes = {"ignored"};
  EXPECT_EQ(other, full());
  const std::vector<std::function<void(Profile&)>> changes{
      [](Profile& p) { p.name = std::string("x"); },
      [](Profile& p) { p.forward_ns = 1; },
      [](Profile& p) { p.tensors[1].layer = std::string("x"); },
      [](Profile& p) { p.all_reduce->isolated.reset(); },
      [](Profile& p) { p.all_gather.reset(); },
      [](Profile& p) { p.reduce_scatter.reset(); },
      [](Profile& p) { p.compressors.clear(); },
      [](Profile& p) { p.compressor = std::string("none"); },
      [](Profile& p) { p.density = 1; },
      [](Profile& p) { p.compressor_options = {}; },
      [](Profile& p) { p.ranks.reset(); },
      [](Profile& p) { p.grad_dtype = DType::kFloat16; },
      [](Profile& p) { p.options.set("x", 1.0); },
      [](Profile& p) { p.pack = {}; },
      [](Profile& p) { p.unpack = {}; },
      [](Profile& p) { p.update = {}; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Profile changed = full();
    changes[i](changed);
    EXPECT_FALSE(changed == full()) << "change " << i;
  }
}

TEST(Profile, PlansWithTheMostRealisticVariant) {
  CollectiveCost cost;
  EXPECT_THROW((void)cost.planning(), std::logic_error);
  cost.isolated = LinearCost{1, 0};
  EXPECT_STREQ(cost.planning_variant(), "isolated");
  cost.back_to_back = LinearCost{2, 0};
  EXPECT_STREQ(cost.planning_variant(), "back_to_back");
  EXPECT_EQ(cost.planning()(8), 2);
  cost.beside_compute = LinearCost{3, 0};
  EXPECT_STREQ(cost.planning_variant(), "beside_compute");
  EXPECT_EQ(cost.planning()(8), 3);
}

TEST(Profile, PlainModelSaysWhichVariantItIs) {
  json document = small();
  document["all_reduce"]["variant"] = "back_to_back";
  EXPECT_STREQ(read(document).all_reduce->planning_variant(), "back_to_back");
  EXPECT_STREQ(read(small()).all_reduce->planning_variant(), "isolated");
  document["all_reduce"]["variant"] = "alone";
  EXPECT_THAT(refusal(document), HasSubstr("beside_compute"));
}

TEST(Profile, NotesUnknownTopLevelKeysWithTheNearestMatch) {
  json document = small();
  document["expected"] = {{"wfbp", 1}};
  document["optionz"] = json::object();
  const Profile profile = read(document);
  EXPECT_THAT(profile.notes,
              ElementsAre(HasSubstr("'expected'"),
                          AllOf(HasSubstr("'optionz'"), HasSubstr("did you mean 'options'"))));
  EXPECT_EQ(profile, read(small()));
}

TEST(Profile, KeepsOptionsAsTheTypesTheyHave) {
  json document = small();
  document["options"] = {
      {"cap_bytes", 1024}, {"min_gain", 0.5}, {"prefetch", "all"}, {"word", "7"}};
  const Options options = read(document).options;
  EXPECT_EQ(options.integer("cap_bytes"), 1024);
  EXPECT_EQ(options.number("min_gain"), 0.5);
  EXPECT_EQ(options.word("prefetch"), "all");
  EXPECT_EQ(options.word("word"), "7");
}

TEST(Profile, NamesThePlaceOfAnError) {
  const std::string text = R"({"schema": "mergewise/profile/1", "name": "x", "forward_ns": 0,
 "tensors": [
  {"name": "w", "bytes": -4, "backward_ns": 0}]})";
  EXPECT_THAT(refusal(text), AllOf(HasSubstr("p:3:"), HasSubstr("-4")));
}

TEST(Profile, RefusesUnknownKeysInsideKnownObjects) {
  json document = small();
  document["tensors"][0]["bakward_ns"] = 1;
  EXPECT_THAT(refusal(document), AllOf(HasSubstr("bakward_ns"), HasSubstr("backward_ns")));
  document = small();
  document["all_reduce"]["b_ns"] = 1;
  EXPECT_THAT(refusal(document), AllOf(HasSubstr("b_ns"), HasSubstr("b_ns_per_byte")));
  document = small();
  document["compressors"]["topk"] = {{"compress", linear(1, 1)}, {"uncompress", linear(1, 1)}};
  EXPECT_THAT(refusal(document), HasSubstr("decompress"));
  document = small();
  document["all_reduce"] = {{"variants", {{"isolatet", linear(1, 1)}}}};
  EXPECT_THAT(refusal(document), HasSubstr("isolated"));
  document["all_reduce"] = {{"variants", {{"isolated", linear(1, 1)}}}, {"model", "linear"}};
  EXPECT_THAT(refusal(document), HasSubstr("model"));
}

TEST(Profile, RefusesMissingKeysByName) {
  for (const char* key : {"schema", "name", "forward_ns", "tensors"}) {
    json document = small();
    document.erase(key);
    EXPECT_THAT(refusal(document), HasSubstr(key));
  }
  for (const char* key : {"name", "bytes", "backward_ns"}) {
    json document = small();
    document["tensors"][1].erase(key);
    EXPECT_THAT(refusal(document), HasSubstr(key));
  }
  for (const char* key : {"model", "a_ns", "b_ns_per_byte"}) {
    json document = small();
    document["all_reduce"].erase(key);
    EXPECT_THAT(refusal(document), HasSubstr(key));
  }
}

TEST(Profile, RefusesAnotherSchema) {
  json document = small();
  document["schema"] = "mergewise/profile/2";
  EXPECT_THAT(refusal(document),
              AllOf(HasSubstr("mergewise/profile/2"), HasSubstr("mergewise/profile/1")));
}

TEST(Profile, RefusesNoTensors) {
  json document = small();
  document["tensors"] = json::array();
  EXPECT_THAT(refusal(document), HasSubstr("at least one"));
}

TEST(Profile, RefusesTwoTensorsOfOneNameWithBothPlaces) {
  const std::string text = R"({"schema": "mergewise/profile/1", "name": "x", "forward_ns": 0,
 "tensors": [
  {"name": "w", "bytes": 4, "backward_ns": 0},
  {"name": "w", "bytes": 4, "backward_ns": 0}]})";
  EXPECT_THAT(refusal(text), AllOf(HasSubstr("p:4:"), HasSubstr("p:3:")));
}

TEST(Profile, RefusesBrokenElements) {
  json document = small();
  document["tensors"][0]["bytes"] = 10;
  EXPECT_EQ(refusal(document), "accepted") << "no element size is stated or needed";
  document["tensors"][0]["bytes"] = 11;
  EXPECT_THAT(refusal(document), HasSubstr("multiple of 2"));
  document["tensors"][0]["bytes"] = 10;
  document["grad_dtype"] = "fp32";
  EXPECT_THAT(refusal(document), AllOf(HasSubstr("'w' has 10 bytes"), HasSubstr("multiple of 4")));
  document["grad_dtype"] = "bf16";
  EXPECT_EQ(refusal(document), "accepted");
  document.erase("grad_dtype");
  document["compressors"]["topk"] = {{"compress", linear(1, 1)}, {"decompress", linear(1, 1)}};
  document["compressor"] = "topk";
  EXPECT_THAT(refusal(document), HasSubstr("multiple of 4"));
}

TEST(Profile, RefusesMoreBytesThanADoubleCanCount) {
  json document = small();
  document["tensors"][0]["bytes"] = kMostBytes;
  EXPECT_THAT(refusal(document), HasSubstr("at most"));
  document["tensors"][0]["bytes"] = kMostBytes + 4;
  EXPECT_NE(refusal(document), "accepted");
  document["tensors"][0]["bytes"] = kMostBytes - 40;
  EXPECT_EQ(refusal(document), "accepted");
}

TEST(Profile, RefusesPointsThatDoNotIncrease) {
  json document = small();
  document["all_reduce"] = {{"model", "measured"}, {"points", {{8, 1}, {8, 2}}}};
  EXPECT_THAT(refusal(document), AllOf(HasSubstr("p:1:"), HasSubstr("increasing")));
  document["all_reduce"]["points"] = {{8, 1}, {16, -2}};
  EXPECT_THAT(refusal(document), HasSubstr("-2"));
  document["all_reduce"]["points"] = {{8, 1, 2}};
  EXPECT_THAT(refusal(document), HasSubstr("[bytes, ns]"));
  document["all_reduce"]["points"] = json::array();
  EXPECT_THAT(refusal(document), HasSubstr("at least one"));
}

TEST(Profile, RefusesNumbersThatAreNoneOrFarTooLarge) {
  for (const char* value :
       {"-1", ".nan", ".inf", "nan", "inf", "1e19", "1e400", "\"7\"", "[]", "{}", "x"}) {
    const std::string text = std::string(R"(schema: mergewise/profile/1
name: x
forward_ns: )") + value + "\ntensors: [{name: w, bytes: 4, backward_ns: 0}]\n";
    EXPECT_THAT(refusal(text), HasSubstr("p:3:")) << value;
  }
}

TEST(Profile, RefusesACompressorWithoutCosts) {
  json document = small();
  document["compressor"] = "topk";
  EXPECT_THAT(refusal(document), AllOf(HasSubstr("p:1:"), HasSubstr("no costs"),
                                       HasSubstr("mergewise calibrate --compressor topk")));
  document["compressor"] = "topp";
  EXPECT_THAT(refusal(document), HasSubstr("did you mean 'topk'"));
}

json with_compressor(const std::string& id, const json& options) {
  json document = small();
  document["compressors"][id] = {{"compress", linear(1, 1)}, {"decompress", linear(1, 1)}};
  document["compressor"] = id;
  document["compressor_options"] = options;
  return document;
}

TEST(Profile, ReadsTheOptionsOfItsCompressor) {
  json document = with_compressor("topk", {{"memory", "none"}, {"messages", 2}});
  document["density"] = 0.25;
  const CompressorSpec spec = compressor_of(read(document));
  EXPECT_EQ(spec.memory, "none");
  EXPECT_EQ(spec.messages, 2);
  EXPECT_EQ(spec.density, 0.25);
  EXPECT_EQ(compressor_of(read(small())), compressor_spec("none"));
}

TEST(Profile, SetsCompressorsAsTheyAreRead) {
  Profile profile = read(with_compressor("topk", {{"memory", "none"}}));
  profile.density = 0.5;
  set_compressor(profile, "topk", Options({{"messages", std::int64_t{2}}}));
  EXPECT_EQ(compressor_of(profile),
            compressor_spec("topk", Options({{"messages", std::int64_t{2}}})));
  set_compressor(profile, "topk", Options({{"density", std::int64_t{1}}}));
  EXPECT_EQ(profile.density, 1);
  EXPECT_EQ(profile.compressor_options, Options());
}

TEST(Profile, RefusesOptionsThatItsCompressorDoesNotHave) {
  EXPECT_THAT(refusal(with_compressor("topk", {{"memoryy", "none"}})),
              AllOf(HasSubstr("p:1:"), HasSubstr("topk"), HasSubstr("memory")));
  EXPECT_THAT(refusal(with_compressor("signsgd", {{"memory", "residual"}})),
              AllOf(HasSubstr("p:1:"), HasSubstr("'residual', expected none")));
  EXPECT_THAT(refusal(with_compressor("topk", {{"density", 0.5}})),
              HasSubstr("beside \"compressor\""));
  EXPECT_THAT(refusal(with_compressor("randk", {{"messages", 2}})), HasSubstr("indices"))
      << "options that do not go together";
  json document = with_compressor("topk", {{"messages", 2}});
  document.erase("compressor");
  EXPECT_THAT(refusal(document), HasSubstr("goes with 'compressor'"));
}

TEST(Profile, RefusesRanksAndDensityOutOfRange) {
  json document = small();
  document["ranks"] = 0;
  EXPECT_THAT(refusal(document), HasSubstr("0"));
  document = small();
  document["density"] = 0;
  EXPECT_THAT(refusal(document), HasSubstr("above 0"));
  document["density"] = 1.5;
  EXPECT_NE(refusal(document), "accepted");
}

TEST(Profile, RefusesOptionsThatAreNoScalars) {
  json document = small();
  document["options"] = {{"cap_bytes", {1, 2}}};
  EXPECT_THAT(refusal(document), HasSubstr("cap_bytes"));
  document["options"] = json::array({1});
  EXPECT_NE(refusal(document), "accepted");
}

}  // namespace
}  // namespace mergewise
