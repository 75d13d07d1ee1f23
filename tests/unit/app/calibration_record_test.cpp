// SPDX-License-Identifier: Apache-2.0
#include "bench/app/calibration_record.hpp"

#include "bench/app/calibration_facts.hpp"
#include "bench/app/calibration_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace mergewise {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

CalibrationRecord sample() {
  MeasuredVariant measured{CostVariant::kBackToBack, {}};
  for (Bytes bytes = 4; bytes <= 1 << 20; bytes *= 2) {
    const double ns = (bytes > 8192 ? 5e5 : 1e5) + static_cast<double>(bytes);
    measured.points.push_back({bytes, ns, 0.98 * ns, 1.02 * ns, 7});
  }
  CalibrationRecord record;
  record.name = "small";
  record.ranks = 4;
  record.communicator = "Gloo";
  record.calibrations = {describe_calibration(Collective::kAllReduce, measured, 4, 5).first};
  record.copies = describe_local("copy", measured).first;
  record.link_gbps = 5;
  record.notes = {"all_reduce: a note"};
  return record;
}

TEST(CalibrationRecord, HasTheKeysOfItsDocumentation) {
  std::ifstream file(MERGEWISE_SOURCE_DIR "/docs/calibration.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const json document = to_json(sample());
  for (const auto& item : document.items()) {
    EXPECT_THAT(text, HasSubstr("`" + item.key() + "`"));
  }
  EXPECT_EQ(document["schema"], kCalibrationSchema);
  EXPECT_THAT(text, HasSubstr(kCalibrationSchema));
}

TEST(CalibrationRecord, SaysNullForWhatThereIsNot) {
  CalibrationRecord record;
  const json document = to_json(record);
  for (const char* key : {"link", "link_gbps", "load", "layers", "copies", "profile"}) {
    EXPECT_EQ(document[key], nullptr) << key;
  }
  record.link = LinkModel{50, 10};
  record.layers = LayerRecord{"measured", "real work", 10, 20, 3};
  EXPECT_EQ(to_json(record)["link"], (json{{"a_us", 50.0}, {"gbps", 10.0}}));
  EXPECT_EQ(to_json(record)["layers"]["passes"], 3);
}

TEST(CalibrationRecord, TextShowsBothFitsTheChoiceAndItsReason) {
  const std::string text = calibration_text(sample());
  for (const char* words :
       {"small, 4 ranks; link: states 5 Gbit/s", "all_reduce  back_to_back", "largest error",
        "Segments", "8.0 KiB", "all_reduce back_to_back: segments (the line is off by up to",
        "Warning: all_reduce back_to_back: faster than the link", "Note: all_reduce: a note",
        "copy"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
  EXPECT_THAT(text, HasSubstr("2.0 %")) << "the typical interval";
}

TEST(CalibrationRecord, TextWithoutMeasurementsIsStillOne) {
  CalibrationRecord record;
  record.name = "nothing";
  EXPECT_THAT(calibration_text(record), HasSubstr("speed unknown"));
  EXPECT_THAT(calibration_text(record), Not(HasSubstr("Segments")));
}

TEST(CalibrationRecord, LiesBesideTheProfile) {
  EXPECT_EQ(record_file("out/profile.json"), "out/profile.calibration.json");
  EXPECT_EQ(record_file("p"), "p.calibration.json");
}

}  // namespace
}  // namespace mergewise
