// SPDX-License-Identifier: Apache-2.0
// One row for each way in which a run config can be wrong: where the error points, and what it
// says.
#include "tests/temporary_folder.hpp"
#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <vector>

namespace mergewise {
namespace {

using ::testing::HasSubstr;
using testing::kRequired;
using testing::run_config_of;
using testing::sample_vocabulary;
using ::testing::StartsWith;

struct Wrong {
  const char* label;  // names the test
  std::string text;
  const char* place;  // LINE:COLUMN
  std::vector<const char*> says;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.label; }

class RunConfigRefuses : public ::testing::TestWithParam<Wrong> {};

TEST_P(RunConfigRefuses, AtTheExactPlace) {
  const Wrong& wrong = GetParam();
  try {
    (void)run_config_of(wrong.text);
    FAIL() << "accepted:\n" << wrong.text;
  } catch (const InputError& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadInput);
    EXPECT_THAT(error.what(), StartsWith("bad.yaml:" + std::string(wrong.place) + ": "));
    for (const char* part : wrong.says) EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

std::string label_of(const ::testing::TestParamInfo<Wrong>& info) { return info.param.label; }

// With a workloads line of its own (line 2).
std::string workloads(const std::string& value) {
  return "name: demo\nworkloads: " + value + "\nstrategies: [wfbp]\n";
}

// With a strategies line of its own (line 3).
std::string strategies(const std::string& value) {
  return "name: demo\nworkloads: [{model: resnet50, batch: 64}]\nstrategies: " + value + "\n";
}

// With one more line (line 4).
std::string with(const std::string& line) { return kRequired + line + "\n"; }

INSTANTIATE_TEST_SUITE_P(
    Keys, RunConfigRefuses,
    ::testing::Values(
        Wrong{"UnknownKey",
              with("itertions: {}"),
              "4:1",
              {"unknown key 'itertions', did you mean 'iterations'?", "Valid: name, workloads"}},
        Wrong{"UnknownKeyOfAWorkload",
              workloads("[{model: vgg16, bach: 1}]"),
              "2:28",
              {"unknown key 'bach', did you mean 'batch'?", "Valid: model, batch"}},
        Wrong{"UnknownKeyOfLink",
              with("link: {a_us: 1, gbit: 1}"),
              "4:17",
              {"unknown key 'gbit', did you mean 'gbps'?", "Valid: a_us, gbps"}},
        Wrong{"UnknownKeyOfIterations",
              with("iterations:\n  blocks: 5"),
              "5:3",
              {"unknown key 'blocks', did you mean 'block'?", "Valid: block, max, target"}},
        Wrong{"UnknownKeyOfCompute",
              with("compute: {kind: timed}"),
              "4:11",
              {"unknown key 'kind'", "Valid: mode, accelerator"}},
        Wrong{"DuplicateKey",
              with("seed: 1\nname: again"),
              "5:1",
              {"key 'name' is already given at bad.yaml:1:1"}},
        Wrong{"NoName", "workloads: []\n", "1:1", {"the key 'name' is missing"}},
        Wrong{"NoWorkloads",
              "name: demo\nstrategies: [wfbp]\n",
              "1:1",
              {"the key 'workloads' is missing"}},
        Wrong{"NoStrategies",
              "name: demo\nworkloads: [{model: vgg16, batch: 1}]\n",
              "1:1",
              {"the key 'strategies' is missing"}},
        Wrong{"EmptyFile", "", "1:1", {"an empty value is not valid here, expected a map"}},
        Wrong{"AList", "- name: demo\n", "1:1", {"a list is not valid here, expected a map"}},
        Wrong{"AWord", "quickstart\n", "1:1", {"'quickstart' is not valid here, expected a map"}}),
    label_of);

INSTANTIATE_TEST_SUITE_P(
    Name, RunConfigRefuses,
    ::testing::Values(
        Wrong{"Folder", "name: ../demo\n", "1:7", {"'../demo' is not a name", "letters"}},
        Wrong{"Space", "name: a b\n", "1:7", {"'a b' is not a name"}},
        Wrong{"Hidden", "name: .demo\n", "1:7", {"'.demo' is not a name"}},
        Wrong{"EmptyText", "name: ''\n", "1:7", {"'' is not a name"}},
        Wrong{"NameNull", "name:\n", "1:1", {"an empty value is not valid here"}},
        Wrong{"Long", "name: " + std::string(101, 'n') + "\n", "1:7", {"nnn...' is not a name"}}),
    label_of);

INSTANTIATE_TEST_SUITE_P(
    Workloads, RunConfigRefuses,
    ::testing::Values(
        Wrong{"NoList",
              workloads("resnet50"),
              "2:12",
              {"'resnet50' is not valid here, expected a list"}},
        Wrong{"NoneAtAll", workloads("[]"), "2:12", {"the list is empty", "one workload"}},
        Wrong{"NoMap",
              workloads("[resnet50]"),
              "2:13",
              {"'resnet50' is not valid here, expected a map"}},
        Wrong{"UnknownModel",
              workloads("[{model: resnet5, batch: 1}]"),
              "2:21",
              {"unknown model 'resnet5', did you mean 'resnet50'?",
               "Valid: resnet50, vgg16, bert_base"}},
        Wrong{"NoBatch", workloads("[{model: vgg16}]"), "2:13", {"the key 'batch' is missing"}},
        Wrong{"BatchZero",
              workloads("[{model: vgg16, batch: 0}]"),
              "2:35",
              {"'0' is not valid here", "an integer from 1 to"}},
        Wrong{"BatchText",
              workloads("[{model: vgg16, batch: many}]"),
              "2:35",
              {"'many' is not valid here", "an integer from 1 to"}},
        Wrong{"BatchQuoted",
              workloads("[{model: vgg16, batch: '64'}]"),
              "2:35",
              {"the text '64' is not valid here", "an integer"}},
        Wrong{"BatchHalf", workloads("[{model: vgg16, batch: 1.5}]"), "2:35", {"'1.5'"}},
        Wrong{"BatchHuge", workloads("[{model: vgg16, batch: 1e15}]"), "2:35", {"'1e15'"}},
        Wrong{"ImageSizeZero",
              workloads("[{model: vgg16, batch: 1, image_size: 0}]"),
              "2:50",
              {"'0'", "an integer from 1 to 65536"}},
        Wrong{"SequenceNegative",
              workloads("[{model: vgg16, batch: 1, sequence_length: -1}]"),
              "2:55",
              {"'-1'", "an integer from 1 to 65536"}},
        Wrong{"NeitherModelNorFile",
              workloads("[{batch: 1}]"),
              "2:13",
              {"exactly one of the keys model, profile, file"}},
        Wrong{"ModelAndProfile",
              workloads("[{model: vgg16, profile: p.json}]"),
              "2:13",
              {"exactly one of the keys model, profile, file"}},
        Wrong{"MissingProfile",
              workloads("[{profile: none/p.json}]"),
              "2:23",
              {"there is no file 'none/p.json'", "relative to this file"}},
        Wrong{"MissingFile",
              workloads("[{file: none.yaml}]"),
              "2:20",
              {"there is no file 'none.yaml'"}},
        Wrong{"FolderForAFile", workloads("[{file: /tmp}]"), "2:20", {"'/tmp' is a directory"}},
        Wrong{"BatchBesideProfile",
              workloads("[{profile: /dev/null, batch: 1}]"),
              "2:34",
              {"'batch' goes with model only"}},
        Wrong{"Twice",
              workloads("[{model: vgg16, batch: 1},\n  {batch: 1, model: vgg16}]"),
              "3:3",
              {"this workload is already given at bad.yaml:2:13"}}),
    label_of);

INSTANTIATE_TEST_SUITE_P(
    Strategies, RunConfigRefuses,
    ::testing::Values(
        Wrong{"NoList", strategies("wfbp"), "3:13", {"'wfbp' is not valid here, expected a list"}},
        Wrong{"NoneAtAll", strategies("[]"), "3:13", {"the list is empty", "one strategy"}},
        Wrong{"Unknown",
              strategies("[wfbp, mgwfbp]"),
              "3:20",
              {"unknown strategy 'mgwfbp', did you mean 'mg_wfbp'?",
               "Valid: ddp, mg_wfbp, optimal, single, wfbp"}},
        Wrong{"UnknownWithOptions",
              strategies("[{dpp: {cap_bytes: 1}}]"),
              "3:15",
              {"unknown strategy 'dpp', did you mean 'ddp'?"}},
        Wrong{"UnknownOption",
              strategies("[{ddp: {cap_byte: 1}}]"),
              "3:21",
              {"strategy 'ddp': unknown option 'cap_byte', did you mean 'cap_bytes'?",
               "Valid: cap_bytes, first_cap_bytes"}},
        Wrong{"OptionOfNone",
              strategies("[{wfbp: {cap_bytes: 1}}]"),
              "3:22",
              {"strategy 'wfbp': unknown option 'cap_bytes'", "none"}},
        Wrong{"OptionOutOfRange",
              strategies("[{ddp: {cap_bytes: 0}}]"),
              "3:32",
              {"strategy 'ddp': option 'cap_bytes' is '0'", "an integer >= 1"}},
        Wrong{"OptionOfOtherType",
              strategies("[{ddp: {cap_bytes: 25MiB}}]"),
              "3:32",
              {"strategy 'ddp': option 'cap_bytes' is '25MiB'", "an integer >= 1"}},
        Wrong{"OptionQuoted",
              strategies("[{ddp: {cap_bytes: '5'}}]"),
              "3:32",
              {"strategy 'ddp': option 'cap_bytes' is '5'", "an integer >= 1"}},
        Wrong{"OptionWord",
              strategies("[{ddp: {first_cap_bytes: never}}]"),
              "3:38",
              {"option 'first_cap_bytes' is 'never'", "or auto"}},
        Wrong{"OptionList",
              strategies("[{ddp: {cap_bytes: [1]}}]"),
              "3:32",
              {"strategy 'ddp': option 'cap_bytes' needs a single value"}},
        Wrong{"OptionTwice",
              strategies("[{ddp: {cap_bytes: 1, cap_bytes: 2}}]"),
              "3:35",
              {"key 'cap_bytes' is already given at bad.yaml:3:21"}},
        Wrong{"OptionsNoMap",
              strategies("[{ddp: 25}]"),
              "3:20",
              {"'25' is not valid here, expected a map"}},
        Wrong{"OptionsEmpty",
              strategies("[{ddp: }]"),
              "3:15",
              {"an empty value is not valid here, expected a map"}},
        Wrong{"TwoInOneEntry",
              strategies("[{ddp: {}, wfbp: {}}]"),
              "3:14",
              {"expected a strategy such as ddp", "{ddp: {...}}"}},
        Wrong{"AListInside", strategies("[[wfbp]]"), "3:14", {"expected a strategy such as"}},
        Wrong{"Twice",
              strategies("[wfbp, ddp, wfbp]"),
              "3:25",
              {"this strategy is already given at bad.yaml:3:14"}},
        Wrong{"TwiceByItsDefaults",
              strategies("[ddp, {ddp: {cap_bytes: 26214400}}]"),
              "3:19",
              {"this strategy is already given at bad.yaml:3:14"}}),
    label_of);

INSTANTIATE_TEST_SUITE_P(
    Compressors, RunConfigRefuses,
    ::testing::Values(
        Wrong{"Unknown",
              with("compressors: [topkk]"),
              "4:15",
              {"unknown compressor 'topkk', did you mean 'topk'?", "Valid: none, topk"}},
        Wrong{"Option",
              with("compressors: [{topk: {density: 2}}]"),
              "4:32",
              {"compressor 'topk': option 'density' is '2'", "a number from 1e-09 to 1"}},
        Wrong{"OptionWord",
              with("compressors: [{topk: {memory: momentum}}]"),
              "4:31",
              {"option 'memory' is 'momentum'", "residual | none"}},
        Wrong{"OptionNan",
              with("compressors: [{topk: {density: nan}}]"),
              "4:32",
              {"option 'density' is 'nan'"}},
        Wrong{"NoneAtAll", with("compressors: []"), "4:14", {"the list is empty"}},
        Wrong{"Twice",
              with("compressors: [none, none]"),
              "4:21",
              {"this compressor is already given at bad.yaml:4:15"}}),
    label_of);

INSTANTIATE_TEST_SUITE_P(
    Ranks, RunConfigRefuses,
    ::testing::Values(
        Wrong{"Zero", with("ranks: 0"), "4:8", {"'0'", "an integer from 1 to 65536"}},
        Wrong{"TooMany", with("ranks: [2, 65537]"), "4:12", {"'65537'", "from 1 to 65536"}},
        Wrong{"Text", with("ranks: [2, all]"), "4:12", {"'all'", "an integer"}},
        Wrong{"HalfAnInteger", with("ranks: 12abc"), "4:8", {"'12abc'", "an integer"}},
        Wrong{"NoneAtAll", with("ranks: []"), "4:8", {"the list is empty"}},
        Wrong{"Twice",
              with("ranks: [2, 4, 2]"),
              "4:15",
              {"this number of ranks is already given at bad.yaml:4:9"}},
        Wrong{"Map", with("ranks: {a: 1}"), "4:8", {"a map is not valid here"}}),
    label_of);

INSTANTIATE_TEST_SUITE_P(
    Settings, RunConfigRefuses,
    ::testing::Values(
        Wrong{"Device",
              with("device: gpu"),
              "4:9",
              {"unknown device 'gpu', did you mean 'cpu'?", "Valid: cpu"}},
        Wrong{"Collective",
              with("collective: glo"),
              "4:13",
              {"unknown collective 'glo', did you mean 'gloo'?", "Valid: gloo"}},
        Wrong{"ComputeWord",
              with("compute: timed"),
              "4:10",
              {"'timed' is not valid here, expected a map"}},
        Wrong{"ComputeMode",
              with("compute: {mode: time}"),
              "4:17",
              {"unknown compute mode 'time', did you mean 'timed'?", "Valid: timed, gemm"}},
        Wrong{"Accelerator",
              with("compute: {accelerator: v10}"),
              "4:24",
              {"unknown accelerator 'v10', did you mean 'v100'?", "Valid: v100, a100"}},
        Wrong{"AcceleratorFile",
              with("compute: {accelerator: none.yaml}"),
              "4:24",
              {"there is no file 'none.yaml'"}},
        Wrong{"LinkEmpty",
              with("link:"),
              "4:1",
              {"an empty value is not valid here, expected a map"}},
        Wrong{"LinkWithoutLatency", with("link: {gbps: 1}"), "4:7", {"the key 'a_us' is missing"}},
        Wrong{"LinkWithoutRate", with("link: {a_us: 1}"), "4:7", {"the key 'gbps' is missing"}},
        Wrong{"LinkRateZero", with("link: {a_us: 1, gbps: 0}"), "4:23", {"'0'", "from 1e-06 to"}},
        Wrong{"LinkRateNan", with("link: {a_us: 1, gbps: nan}"), "4:23", {"'nan'", "a number"}},
        Wrong{"LinkLatencyNegative",
              with("link: {a_us: -1, gbps: 1}"),
              "4:14",
              {"'-1'", "a number from 0 to"}},
        Wrong{"AccumulationZero", with("accumulation: 0"), "4:15", {"'0'", "an integer from 1 to"}},
        Wrong{"HalfGradients",
              with("grad_dtype: bf16"),
              "4:13",
              {"'bf16' cannot be replayed yet, expected fp32", "mergewise simulate"}},
        Wrong{"Buffers",
              with("buffers: slices"),
              "4:10",
              {"unknown buffers 'slices', did you mean 'slice'?", "Valid: slice, copy"}},
        Wrong{"BlockZero", with("iterations: {block: 0}"), "4:21", {"'0'", "an integer from 1 to"}},
        Wrong{"MaxBelowBlock",
              with("iterations: {block: 5, max: 4}"),
              "4:29",
              {"max (4) is smaller than block (5)"}},
        Wrong{"BlockAboveTheDefaultMax",
              with("iterations: {block: 51}"),
              "4:21",
              {"max (50) is smaller than block (51)"}},
        Wrong{"TargetZero", with("iterations: {target: 0}"), "4:22", {"'0'", "> 0"}},
        Wrong{"TargetOne", with("iterations: {target: 1.0}"), "4:22", {"'1.0'", "< 1"}},
        Wrong{"TargetTwo", with("iterations: {target: 2}"), "4:22", {"'2'", "from 0 to 1"}},
        Wrong{"Budget",
              with("budget: 10 minutes"),
              "4:9",
              {"'10 minutes' is not a duration", "150s"}},
        Wrong{"BudgetZero", with("budget: 0s"), "4:9", {"'0s' is not a duration"}},
        Wrong{"BudgetList", with("budget: [1]"), "4:9", {"a list is not valid here"}},
        Wrong{"Deadline", with("deadline: -1s"), "4:11", {"'-1s' is not a duration"}},
        Wrong{"SeedNegative", with("seed: -1"), "4:7", {"'-1'", "an integer >= 0"}},
        Wrong{"SeedText", with("seed: x"), "4:7", {"'x'", "an integer >= 0"}}),
    label_of);

INSTANTIATE_TEST_SUITE_P(
    Syntax, RunConfigRefuses,
    ::testing::Values(
        Wrong{"OpenList", "name: demo\nworkloads: [\n", "3:1", {"not valid YAML"}},
        Wrong{"Anchor", "name: &n demo\n", "1:7", {"anchors"}},
        Wrong{"Tag", "name: !!str demo\n", "1:7", {"tags"}},
        Wrong{"TwoDocuments", kRequired + "---\n" + kRequired, "4:1", {"a second document"}}),
    label_of);

TEST(RunConfigErrors, RefusesMoreThanTenThousandCases) {
  const auto with_ranks = [](int count) {
    std::string text =
        "name: demo\nworkloads: [{model: vgg16, batch: 1}, {model: vgg16, batch: 2}]\n"
        "strategies: [wfbp, single]\nranks: [";
    for (int i = 1; i <= count; ++i) text += std::to_string(i) + (i < count ? ", " : "]\n");
    return text;
  };
  EXPECT_NO_THROW((void)run_config_of(with_ranks(2500)));
  EXPECT_THAT([&] { (void)run_config_of(with_ranks(2501)); },
              ::testing::ThrowsMessage<InputError>(::testing::AllOf(
                  StartsWith("bad.yaml:2:12: "), HasSubstr("10004 cases"), HasSubstr("10000"))));
}

TEST(RunConfigErrors, RefusesAFileOverOneMebibyte) {
  const TemporaryFolder folder;
  const auto file = folder.write("run.yaml", kRequired + "#" + std::string(1 << 20, 'x'));
  EXPECT_THAT([&] { (void)load_run_config(file, sample_vocabulary()); },
              ::testing::ThrowsMessage<InputError>(
                  ::testing::AllOf(StartsWith(file.string()), HasSubstr("1.0 MiB"))));
}

TEST(RunConfigErrors, RefusesAMissingFile) {
  EXPECT_THAT([] { (void)load_run_config("none.yaml", sample_vocabulary()); },
              ::testing::ThrowsMessage<InputError>(
                  ::testing::AllOf(StartsWith("none.yaml: "), HasSubstr("No such file"))));
}

}  // namespace
}  // namespace mergewise
