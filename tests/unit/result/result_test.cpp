// SPDX-License-Identifier: Apache-2.0
#include "bench/result/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <set>
#include <string>

namespace mergewise {
namespace {

using nlohmann::json;

Result sample_result() {
  Result result;
  result.name = std::string("quickstart");
  result.environment = {{"host", {{"name", "h"}}}};
  result.config = {{"name", "quickstart"}};
  result.started = std::string("2026-01-02T03:04:05Z");
  result.seed = 7;
  result.complete = true;
  Profile profile;
  profile.name = std::string("tiny");
  profile.forward_ns = 100;
  profile.tensors = {{"w", 400, 30, std::nullopt, "", {}},
                     {"b", 40, 5, std::nullopt, "", {}},
                     {"v", 8, 15, std::nullopt, "", {}}};
  profile.all_reduce.emplace();
  profile.all_reduce->back_to_back = LinearCost{10, 1};
  result.profiles["tiny/4"] = profile;
  result.calibrations.push_back({"tiny/4",
                                 "all_reduce",
                                 "back_to_back",
                                 {{8, 100, 90, 120, 20}},
                                 fit_line({{8, 100}, {16, 150}}),
                                 true});
  result.order = {"tiny/wfbp/none/4"};
  CaseRecord record;
  record.workload = std::string("tiny");
  record.batch = 64;
  record.times = "modelled";
  record.times_from = std::string("roofline");
  record.strategy = std::string("ddp");
  record.options.set("cap_bytes", std::int64_t{1024});
  record.ranks = 4;
  record.status = CaseStatus::kOk;
  record.verified = true;
  record.plan = plan_from_ends("ddp", {2, 3});
  record.plan_hash = std::string("0123456789abcdef");
  record.profile = std::string("tiny/4");
  record.samples_ns = {1000, 1010, 990};
  record.warmup_ns = {2000};
  record.summary = summarize(record.samples_ns, 1, 1);
  record.stopped = std::string("target");
  record.predicted_ns = 1100;
  record.optimal_ns = 1000;
  record.compute_alone_ns = 400;
  record.breakdown = Breakdown{{{"compute", 600}, {"idle", 400}}, 1000, 500, 300, 200, 5, 6};
  record.link = LinkRecord{8000, 2.5, 12, 1};
  record.compression = CompressionRecord{
      "topk", Options({{"density", 0.01}}), 4096, 4096, 80, 7, 9, 78.0, 3.0, 1.5, 2, 1, {},
  };
  record.compression->error = CompressionError{0.5, 0.75};
  record.spans = {{0, Lane::kCommunication, "transfer", 1, 500, 900}};
  record.predicted.spans = {{Lane::kCompute, Activity::kForward, 0, 0, 100}};
  record.flags = {"link_emulated"};
  result.cases.push_back(record);
  return result;
}

std::set<std::string> keys(const json& object) {
  std::set<std::string> names;
  for (const auto& item : object.items()) names.insert(item.key());
  return names;
}

std::string source_text(const std::string& name) {
  std::ifstream file(std::string(MERGEWISE_SOURCE_DIR) + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

json result_schema() { return json::parse(source_text("docs/schema/result.schema.json")); }

// What the schema calls `name` requires, which is all of its keys but those a plan may leave out.
std::set<std::string> documented_keys(const std::string& name) {
  return result_schema()["$defs"][name]["required"].get<std::set<std::string>>();
}

// All names of keys anywhere in a schema.
void collect_keys(const json& schema, std::set<std::string>& names) {
  if (schema.is_object() && schema.contains("properties") && schema["properties"].is_object()) {
    for (const auto& item : schema["properties"].items()) names.insert(item.key());
  }
  for (const json& part : schema) {
    if (part.is_structured()) collect_keys(part, names);
  }
}

TEST(ResultSchema, HasNoKeyThatTheDocumentDoesNotExplain) {
  const std::string text = source_text("docs/result.md");
  std::set<std::string> names;
  collect_keys(result_schema(), names);
  EXPECT_GT(names.size(), 80U);
  for (const std::string& name : names) {
    const std::regex word("(^|[^a-z_])" + name + "([^a-z_]|$)");
    EXPECT_TRUE(std::regex_search(text, word)) << "docs/result.md lacks " << name;
  }
}

TEST(Result, HasTheDocumentedKeys) {
  const json document = to_json(sample_result());
  EXPECT_EQ(keys(document), result_schema()["required"].get<std::set<std::string>>());
  EXPECT_EQ(document["schema"], "mergewise/result/1");
  EXPECT_EQ(document["started"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(document["seed"], 7);
  EXPECT_EQ(document["order"], json::array({"tiny/wfbp/none/4"}));
  EXPECT_EQ(document["profiles"]["tiny/4"], to_json(sample_result().profiles["tiny/4"]));
}

TEST(Result, CaseHasTheDocumentedKeys) {
  const json one = to_json(sample_result())["cases"][0];
  EXPECT_EQ(keys(one), documented_keys("case"));
  EXPECT_EQ(keys(one["workload"]), documented_keys("workload"));
  EXPECT_EQ(keys(one["link"]), documented_keys("link"));
  EXPECT_EQ(keys(one["compression"]), documented_keys("compression"));
  EXPECT_EQ(keys(one["spans"][0]), documented_keys("span"));
  EXPECT_EQ(keys(one["predicted_spans"][0]), documented_keys("span"));
  EXPECT_EQ(one["options"], (json{{"cap_bytes", 1024}}));
  EXPECT_EQ(one["status"], "ok");
  EXPECT_EQ(one["link"],
            (json{{"a_us", 8000.0}, {"gbps", 2.5}, {"collectives", 12}, {"overran", 1}}));
  EXPECT_EQ(one["flags"], json::array({"link_emulated"}));
}

TEST(Result, CaseDescribesItsWorkloadFromItsProfile) {
  const json workload = to_json(sample_result())["cases"][0]["workload"];
  EXPECT_EQ(workload, (json{{"name", "tiny"},
                            {"batch", 64},
                            {"times", "modelled"},
                            {"times_from", "roofline"},
                            {"tensors", 3},
                            {"bytes", 448},
                            {"forward_ns", 100.0},
                            {"backward_ns", 50.0}}));
}

TEST(Result, CaseWithoutAProfileSaysSoWithNull) {
  Result result = sample_result();
  result.profiles.clear();
  const json one = to_json(result)["cases"][0];
  EXPECT_TRUE(one["workload"]["bytes"].is_null());
  EXPECT_EQ(one["plan"]["group_bytes"], json::array());
}

TEST(Result, PlanShowsEndsBytesAndHash) {
  const json plan = to_json(sample_result())["cases"][0]["plan"];
  EXPECT_EQ(plan["groups"], json::array({2, 3}));
  EXPECT_EQ(plan["group_bytes"], json::array({440, 8}));
  EXPECT_EQ(plan["hash"], "0123456789abcdef");
  EXPECT_EQ(plan["strategy"], "ddp");
}

TEST(Result, ComputesWhatFollowsFromOtherFields) {
  const json one = to_json(sample_result())["cases"][0];
  EXPECT_DOUBLE_EQ(one["gap"].get<double>(), 1100.0 / 1000 - 1);
  EXPECT_DOUBLE_EQ(one["prediction_error"].get<double>(), 1100.0 / 1000 - 1);
  EXPECT_DOUBLE_EQ(one["communication_cost_ns"].get<double>(), 600);
}

TEST(Result, IsNullWhereNothingIsKnown) {
  Result result;
  result.cases.emplace_back();
  const json one = to_json(result)["cases"][0];
  for (const char* key :
       {"summary", "predicted_ns", "optimal_ns", "gap", "prediction_error", "compute_alone_ns",
        "communication_cost_ns", "tax_ns", "breakdown", "link"}) {
    EXPECT_TRUE(one[key].is_null()) << key;
  }
  EXPECT_EQ(one["status"], "skipped");
  EXPECT_EQ(one["samples_ns"], json::array());
  EXPECT_EQ(one["options"], json::object());
}

TEST(Result, IsNullForWhatJsonCannotSay) {
  Result result = sample_result();
  CaseRecord& record = result.cases[0];
  record.samples_ns = {1, std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::infinity()};
  record.optimal_ns = 0;
  const json one = to_json(result)["cases"][0];
  EXPECT_EQ(one["samples_ns"], json::array({1.0, nullptr, nullptr}));
  EXPECT_TRUE(one["gap"].is_null());
  EXPECT_EQ(json::parse(one.dump()), one);
}

TEST(Result, CompressionCountsCopiesThatPassBy) {
  const json one = to_json(sample_result())["cases"][0]["compression"];
  EXPECT_EQ(one["planned_sent_bytes"], 3 * 80);
  EXPECT_EQ(one["sent_bytes"], 3 * 78);
  EXPECT_EQ(one["received_bytes"], 3 * 78);
  EXPECT_EQ(one["dense_sent_bytes"], 1.5 * 4096);
  EXPECT_EQ(one["nans"], 2);
  EXPECT_EQ(one["error"]["worst_tensor"], 0.75);
}

TEST(Result, CompressionIsNullWhereNothingWasMeasured) {
  Result result = sample_result();
  result.cases[0].compression->message_bytes.reset();
  result.cases[0].compression->nans.reset();
  result.cases[0].compression->error.reset();
  const json one = to_json(result)["cases"][0]["compression"];
  for (const char* key : {"message_bytes", "sent_bytes", "received_bytes", "nans", "error"}) {
    EXPECT_TRUE(one[key].is_null()) << key;
  }
  EXPECT_EQ(one["planned_sent_bytes"], 3 * 80);
  result.cases[0].compression.reset();
  EXPECT_TRUE(to_json(result)["cases"][0]["compression"].is_null());
}

TEST(Result, SpansNameLaneActivityAndGroup) {
  const json one = to_json(sample_result())["cases"][0];
  EXPECT_EQ(one["spans"], json::array({{{"rank", 0},
                                        {"lane", "communication"},
                                        {"activity", "transfer"},
                                        {"group", 1},
                                        {"begin_ns", 500.0},
                                        {"end_ns", 900.0}}}));
  EXPECT_EQ(one["predicted_spans"][0]["activity"], "forward");
  EXPECT_EQ(one["predicted_spans"][0]["lane"], "compute");
}

TEST(Result, SummaryAndBreakdownKeepTheirUnits) {
  const json one = to_json(sample_result())["cases"][0];
  EXPECT_EQ(one["summary"]["count"], 3);
  EXPECT_EQ(one["summary"]["median_ns"], 1000.0);
  EXPECT_EQ(keys(one["summary"]), documented_keys("summary"));
  EXPECT_EQ(one["breakdown"], (json{{"iteration_ns", 1000.0},
                                    {"labels_ns", {{"compute", 600.0}, {"idle", 400.0}}},
                                    {"busy_ns", 500.0},
                                    {"exposed_ns", 300.0},
                                    {"hidden_ns", 200.0},
                                    {"observer_ns", 5.0},
                                    {"clock_error_ns", 6.0}}));
}

TEST(Result, CalibrationShowsPointsAndFit) {
  const json calibration = to_json(sample_result())["calibrations"][0];
  EXPECT_EQ(calibration["profile"], "tiny/4");
  EXPECT_EQ(calibration["variant"], "back_to_back");
  EXPECT_EQ(
      calibration["points"][0],
      (json{
          {"bytes", 8}, {"ns", 100.0}, {"low_ns", 90.0}, {"high_ns", 120.0}, {"repetitions", 20}}));
  EXPECT_EQ(keys(calibration), documented_keys("calibration"));
  const json schema = result_schema()["$defs"]["calibration"]["properties"];
  EXPECT_EQ(keys(calibration["fit"]), schema["fit"]["required"].get<std::set<std::string>>());
  EXPECT_EQ(keys(calibration["points"][0]),
            schema["points"]["items"]["required"].get<std::set<std::string>>());
  EXPECT_EQ(calibration["used_line"], true);
  EXPECT_EQ(calibration["used"], "line");
  EXPECT_EQ(calibration["segments"], nullptr) << "of a single size";
  EXPECT_EQ(calibration["bus_gbps"], nullptr) << "where the line does not rise";
}

TEST(Result, CalibrationShowsItsSegmentsAndWhatToBewareOf) {
  Calibration calibration = sample_result().calibrations[0];
  calibration.used_line = false;
  calibration.used = "segments";
  calibration.why = "the line is off by up to 40.0 %, 2 segments by up to 3.0 %";
  calibration.segments = SegmentedFit{{{8, 64, {10, 2}}, {128, 256, {-5, 3}}}, 0.99, 0.03};
  calibration.bus_gbps = 9.5;
  calibration.warnings = {"negative intercept"};
  const json document = to_json(calibration);
  EXPECT_EQ(document["segments"]["segments"][1],
            (json{{"from_bytes", 128}, {"to_bytes", 256}, {"a_ns", -5.0}, {"b_ns_per_byte", 3.0}}));
  EXPECT_EQ(document["segments"]["largest_error"], 0.03);
  EXPECT_EQ(document["why"], calibration.why);
  EXPECT_EQ(document["bus_gbps"], 9.5);
  EXPECT_EQ(document["warnings"], json::array({"negative intercept"}));
  const json schema = result_schema()["$defs"]["calibration"]["properties"]["segments"];
  EXPECT_EQ(keys(document["segments"]), schema["required"].get<std::set<std::string>>());
}

TEST(CaseStatus, HasNamesForFiles) {
  EXPECT_STREQ(name_of(CaseStatus::kOk), "ok");
  EXPECT_STREQ(name_of(CaseStatus::kPartial), "partial");
  EXPECT_STREQ(name_of(CaseStatus::kFailed), "failed");
  EXPECT_STREQ(name_of(CaseStatus::kSkipped), "skipped");
}

}  // namespace
}  // namespace mergewise
