// SPDX-License-Identifier: Apache-2.0
#include "bench/app/paper_config.hpp"
#include "bench/core/error.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>

namespace mergewise {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

const fs::path kConfigs = fs::path(MERGEWISE_SOURCE_DIR) / "configs";

PaperInputs inputs(const std::optional<fs::path>& reference = std::nullopt) {
  return {kConfigs / "papers", kConfigs / "clusters", kConfigs / "accelerators", reference};
}

std::string text_of_paper(const std::string& id) {
  std::ifstream stream(kConfigs / "papers" / (id + ".yaml"));
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The text with another value of a key, whose line in the file is KEY: VALUE.
std::string with(const std::string& text, const std::string& key, const std::string& value) {
  const std::size_t begin = text.find("\n" + key + ": ");
  EXPECT_NE(begin, std::string::npos) << key;
  return text.substr(0, begin + 1) + key + ": " + value + text.substr(text.find('\n', begin + 1));
}

double number(const FigureTable& table, std::size_t row, const std::string& column) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == column) return std::get<double>(table.rows.at(row).at(i));
  }
  ADD_FAILURE() << "no column " << column;
  return 0;
}

TEST(Papers, EachIsComputedWithoutTheReferenceOrSaysWhatIsNot) {
  for (const std::string& id : paper_ids()) {
    SCOPED_TRACE(id);
    const Reproduction paper = reproduce(id, inputs());
    EXPECT_EQ(paper.id, id);
    EXPECT_FALSE(paper.tables.empty() && paper.not_run.empty());
    EXPECT_EQ(paper.tables.empty(), paper.claims.empty());
    EXPECT_FALSE(paper.assumptions.empty());
    for (const FigureTable& table : paper.tables) {
      EXPECT_FALSE(table.rows.empty()) << table.title;
      for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
    }
    for (const Claim& claim : paper.claims) {
      EXPECT_FALSE(claim.what.empty() || claim.claimed.empty() || claim.ours.empty() ||
                   claim.difference.empty() || claim.cause.empty())
          << claim.what;
    }
  }
}

TEST(Papers, ThoseThatNeedTheReferenceNameTheFile) {
  EXPECT_THAT(
      reproduce_ddl_benchmarks(inputs()).not_run,
      ElementsAre(AllOf(HasSubstr("published/ddl_benchmarks_2020.csv"), HasSubstr("--reference"))));
  EXPECT_THAT(reproduce_mg_wfbp(inputs(fs::path("/nowhere"))).not_run,
              ElementsAre(HasSubstr("/nowhere/published/bcaffe_2018_k80_10gbe.csv is not there")));
}

// Rows made up for this test: they follow the format, not anybody's measurements.
TEST(Papers, AnyNetworkInterconnectAndNumberOfGpusOfTheTableIsTried) {
  const TemporaryFolder folder;
  folder.write("published/ddl_benchmarks_2020.csv",
               "model,batch_size,network,method,gpus,samples_per_s,stddev\n"
               "VGG-16,32,10GbE with TCP/IP,BSP-A2A,1,200,0\n"
               "VGG-16,32,10GbE with TCP/IP,BSP-A2A,8,700,0\n"
               "VGG-16,32,10GbE with TCP/IP,WFBP-A2A,8,900,0\n"
               "VGG-16,32,10GbE with TCP/IP,MG-WFBP,8,950,0\n"
               "VGG-16,32,pigeons,BSP-A2A,1,200,0\n"
               "VGG-16,32,pigeons,BSP-A2A,6,700,0\n"
               "VGG-16,32,pigeons,WFBP-A2A,6,800,0\n"
               "Transformer-9,32,pigeons,WFBP-A2A,6,800,0\n"
               "VGG-19,32,pigeons,WFBP-A2A,6,800,0\n");
  const Reproduction paper = reproduce_ddl_benchmarks(inputs(folder.path()));
  ASSERT_THAT(paper.tables, SizeIs(2));
  const FigureTable& fits = paper.tables[0];
  ASSERT_THAT(fits.rows, SizeIs(4));
  EXPECT_EQ(std::get<std::string>(fits.rows[2].back()), "not one of our networks");
  const FigureTable& rates = paper.tables[1];
  EXPECT_EQ(number(rates, 0, "published"), 950);
  EXPECT_GT(number(rates, 0, "authors' plan"), 0);
  EXPECT_LE(number(rates, 0, "authors' plan"), number(rates, 0, "optimal"));
  EXPECT_GE(number(rates, 0, "optimal"), number(rates, 0, "fitted plan") * (1 - 1e-9));
  EXPECT_GT(number(rates, 1, "fitted plan"), 799);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(rates.rows[1][4]))
      << "the authors' code has no costs for pigeons";
  EXPECT_THAT(rates.notes, Contains(HasSubstr("no costs for pigeons 6 GPUs."))) << "once";
}

TEST(Papers, AnInterconnectWithoutARowOfOneGpuTakesAnothersAndSaysSo) {
  const TemporaryFolder folder;
  folder.write("published/ddl_benchmarks_2020.csv",
               "model,batch_size,network,method,gpus,samples_per_s,stddev\n"
               "VGG-16,32,IB,BSP-A2A,1,200,0\n"
               "VGG-16,32,pigeons,BSP-A2A,8,700,0\n"
               "VGG-16,32,pigeons,WFBP-A2A,8,900,0\n");
  const Reproduction paper = reproduce_ddl_benchmarks(inputs(folder.path()));
  EXPECT_GT(number(paper.tables.back(), 0, "fitted plan"), 800);
  EXPECT_THAT(paper.assumptions, Contains(AllOf(HasSubstr("VGG-16 of batch 32 on pigeons"),
                                                HasSubstr("BSP-A2A on IB"))));
}

TEST(Papers, ATableWithoutAModelledRowIsNotRun) {
  const TemporaryFolder folder;
  folder.write("published/ddl_benchmarks_2020.csv",
               "model,batch_size,network,method,gpus,samples_per_s,stddev\n"
               "VGG-16,32,pigeons,BSP-A2A,1,200,0\nVGG-16,32,pigeons,Doves,6,200,0\n");
  folder.write("published/bcaffe_2018_k80_10gbe.csv",
               "model,batch_size,method,nodes,samples_per_s\nGoogLeNet,64,doves,4,160\n");
  for (const Reproduction& paper : {reproduce_ddl_benchmarks(inputs(folder.path())),
                                    reproduce_mg_wfbp(inputs(folder.path()))}) {
    EXPECT_THAT(paper.not_run, ElementsAre(HasSubstr("no row of several GPUs"))) << paper.id;
    EXPECT_EQ(paper.tables.empty(), paper.claims.empty());
  }
}

TEST(Papers, GoogLeNetIsTakenFromItsTraceInReverseOrder) {
  const TemporaryFolder folder;
  folder.write("published/bcaffe_2018_k80_10gbe.csv",
               "model,batch_size,method,nodes,samples_per_s\n"
               "GoogLeNet,64,wfbp,1,160\nGoogLeNet,64,wfbp,4,580\nGoogLeNet,64,single,4,460\n"
               "GoogLeNet,64,mg_wfbp,4,600\nAlexNet,64,wfbp,1,160\nAlexNet,64,wfbp,4,580\n");
  folder.write("traces/googlenet_k80.json",
               R"({"name": "g", "layers": [{"parameters": 10000, "backward_us": 90000},
                   {"parameters": 5000000, "backward_us": 50000},
                   {"parameters": 1000, "backward_us": 60000}]})");
  const Reproduction paper = reproduce_mg_wfbp(inputs(folder.path()));
  EXPECT_THAT(paper.not_run, IsEmpty());
  const FigureTable& fits = paper.tables[paper.tables.size() - 2];
  EXPECT_EQ(std::get<std::string>(fits.rows[1].back()), "no trace of it on a K80");
  const FigureTable& rates = paper.tables.back();
  EXPECT_GT(number(rates, 0, "fitted plan"), 579);
}

TEST(Papers, ATraceWithoutBytesOrWithoutTimeIsRefusedAtItsLayers) {
  const TemporaryFolder folder;
  folder.write("published/bcaffe_2018_k80_10gbe.csv",
               "model,batch_size,method,nodes,samples_per_s\nGoogLeNet,64,wfbp,1,160\n"
               "GoogLeNet,64,wfbp,4,580\nGoogLeNet,64,single,4,460\n");
  const auto refused = [&](const std::string& layer, const std::string& message) {
    folder.write("traces/googlenet_k80.json", "{\"name\": \"g\",\n \"layers\": [" + layer + "]}");
    EXPECT_THAT([&] { (void)reproduce_mg_wfbp(inputs(folder.path())); },
                ThrowsMessage<InputError>(
                    AllOf(HasSubstr("googlenet_k80.json:2:12: "), HasSubstr(message))));
  };
  refused(R"({"parameters": 0, "backward_us": 900})", "no layer has parameters");
  refused(R"({"parameters": 10, "backward_us": 0})", "no layer takes time");
  refused("", "no layer");
}

TEST(Papers, EachClusterHasItsOwnRow) {
  const TemporaryFolder folder;
  PaperInputs few = inputs();
  few.papers = folder.path();
  folder.write("mg_wfbp.yaml",
               with(with(with(text_of_paper("mg_wfbp"), "ranks", "[4]"), "algorithms", "[ring]"),
                    "clusters", "[ethernet_10g, ethernet_1g]"));
  const Reproduction paper = reproduce_mg_wfbp(few);
  ASSERT_THAT(paper.tables.at(1).rows, SizeIs(2));
  EXPECT_EQ(std::get<std::string>(paper.tables[1].rows[0][0]), "ethernet_10g");
  EXPECT_EQ(std::get<std::string>(paper.tables[1].rows[1][0]), "ethernet_1g");
}

TEST(Papers, EveryBrokenConfigIsRefusedAtItsPlace) {
  const TemporaryFolder folder;
  folder.write("omgs.yaml", "schema: mergewise/paper/2\nname: omgs\n");
  PaperInputs wrong = inputs();
  wrong.papers = folder.path();
  EXPECT_THAT([&] { (void)reproduce_omgs(wrong); },
              ThrowsMessage<InputError>(HasSubstr("omgs.yaml:1:9")));
  folder.write("omgs.yaml", "schema: mergewise/paper/1\nname: mergecomp\n");
  EXPECT_THAT([&] { (void)reproduce_omgs(wrong); },
              ThrowsMessage<InputError>(HasSubstr("omgs.yaml:2:7")));
  EXPECT_THROW((void)reproduce("omg", inputs()), InputError);
  folder.write("omgs.yaml", text_of_paper("omgs") + "densty: 0.1\n");
  EXPECT_THAT([&] { (void)reproduce_omgs(wrong); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("omgs.yaml:"), HasSubstr("densty"))));
}

TEST(Papers, AClaimIsComparedWithTheCasesThatItIsAbout) {
  const TemporaryFolder folder;
  PaperInputs other = inputs();
  other.papers = folder.path();
  EXPECT_THAT(reproduce_mergecomp(inputs()).claims.at(1).ours,
              AllOf(HasSubstr("(fp16, "), HasSubstr(", 8 GPUs of v100_nvlink)")));
  folder.write("mergecomp.yaml", with(text_of_paper("mergecomp"), "scaling_of",
                                      "{compressor: topk, cluster: v100_pcie}"));
  const Claim claim = reproduce_mergecomp(other).claims.at(1);
  EXPECT_THAT(claim.ours, AllOf(HasSubstr("(topk, "), HasSubstr(", 8 GPUs of v100_pcie)")));
  EXPECT_THAT(claim.difference, HasSubstr("-"));
  folder.write("mergecomp.yaml", with(text_of_paper("mergecomp"), "scaling_of",
                                      "{compressor: topk, cluster: pigeons}"));
  EXPECT_THAT([&] { (void)reproduce_mergecomp(other); },
              ThrowsMessage<InputError>(HasSubstr("no case is computed")));
}

TEST(Papers, PublishedFiguresOfACaseThatIsNotComputedAreRefused) {
  const TemporaryFolder folder;
  PaperInputs wrong = inputs();
  wrong.papers = folder.path();
  const auto refused = [&](const std::string& key, const std::string& value) {
    folder.write("mergecomp.yaml", with(text_of_paper("mergecomp"), "  " + key, value));
    EXPECT_THAT([&] { (void)reproduce_mergecomp(wrong); },
                ThrowsMessage<InputError>(HasSubstr("mergecomp.yaml:")))
        << key;
  };
  refused("network", "ResNet-7");
  refused("cluster", "pigeons");
  refused("ranks", "3");
}

TEST(Reproductions, AreEqualForEqualInput) {
  const auto once = to_json({reproduce_mergecomp(inputs()), reproduce_mg_wfbp(inputs())});
  const auto again = to_json({reproduce_mergecomp(inputs()), reproduce_mg_wfbp(inputs())});
  EXPECT_EQ(once.dump(), again.dump());
}

TEST(Reproductions, TextHasClaimsAndTablesButNotTheLongOnes) {
  Reproduction paper{"p", "Title", "Source", {"an assumption"}};
  paper.claims = {{"what", "claimed", "ours", "difference", "cause"}};
  paper.tables = {{"short", {{"word", "", 0}, {"time", "ms", 1}}, {{"a", 1.25}, {"b", {}}}},
                  {"long", {{"word", "", 0}}, {{"hidden"}}, {}, true}};
  paper.not_run = {"part: reason"};
  const std::string text = text_of(paper);
  for (const char* word :
       {"Title", "what", "ours", "short", "time [ms]", "an assumption", "Not run: part: reason"}) {
    EXPECT_THAT(text, HasSubstr(word));
  }
  EXPECT_THAT(text, ::testing::Not(HasSubstr("hidden")));
  const auto json = to_json({paper});
  EXPECT_EQ(json["schema"], kReproductionSchema);
  EXPECT_EQ(json["papers"][0]["tables"][0]["rows"][0][1], 1.25);
  EXPECT_TRUE(json["papers"][0]["tables"][0]["rows"][1][1].is_null());
}

}  // namespace
}  // namespace mergewise
