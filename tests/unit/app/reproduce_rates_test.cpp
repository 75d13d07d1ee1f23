// SPDX-License-Identifier: Apache-2.0
#include "bench/app/published_rates.hpp"
#include "bench/core/error.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

class PublishedRatesFile : public ::testing::Test {
 protected:
  PublishedTable load(const std::string& text) {
    return load_published_rates(folder_.write("rates.csv", text));
  }
  void expect_error(const std::string& text, const std::string& place, const std::string& message) {
    EXPECT_THAT(
        [&] { (void)load(text); },
        ThrowsMessage<InputError>(AllOf(HasSubstr("rates.csv:" + place), HasSubstr(message))))
        << text;
  }

  TemporaryFolder folder_;
};

const std::string kHeader = "model,batch_size,network,method,gpus,samples_per_s,stddev\n";

TEST_F(PublishedRatesFile, GathersTheMethodsOfACase) {
  const PublishedTable table = load(kHeader +
                                    "ResNet-50,64,10GbE,BSP-A2A,1,250,0\n"
                                    "ResNet-50,64,10GbE,BSP-A2A,8,1280.5,1.5\n"
                                    "ResNet-50,64,10GbE,WFBP-A2A,8,1795,\n"
                                    "ResNet-50,64,10GbE,MG-WFBP,8,1980,3\n"
                                    "\n"
                                    "ResNet-50,64,10GbE,ByteScheduler-A2A,8,1319,3\n"
                                    "ResNet-50,64,IB,MG-WFBP,8,2000,3\n");
  ASSERT_EQ(table.cases.size(), 2U);
  const PublishedRates& first = table.cases[0];
  EXPECT_EQ(first.model, "ResNet-50");
  EXPECT_EQ(first.batch, 64);
  EXPECT_EQ(first.network, "10GbE");
  EXPECT_EQ(first.gpus, 8);
  EXPECT_EQ(first.one_gpu, 250);
  EXPECT_EQ(first.single->samples_per_s, 1280.5);
  EXPECT_EQ(first.single->stddev, 1.5);
  EXPECT_FALSE(first.wfbp->stddev.has_value());
  EXPECT_EQ(first.mg_wfbp->samples_per_s, 1980);
  EXPECT_EQ(first.one_gpu_from, "");
  EXPECT_EQ(table.cases[1].one_gpu, 250);
  EXPECT_EQ(table.cases[1].one_gpu_from, "BSP-A2A on 10GbE");
  EXPECT_FALSE(table.cases[1].single.has_value());
  EXPECT_THAT(table.other_methods, ElementsAre("ByteScheduler-A2A"));
}

TEST_F(PublishedRatesFile, TakesOurNamesNodesAndAnyOrderOfColumns) {
  const PublishedTable table = load(
      "method,nodes,samples_per_s,model,batch_size\r\n"
      "wfbp,1,163,GoogLeNet,64\r\nmg_wfbp,2,316,GoogLeNet,64\r\nsingle,2,250,GoogLeNet,64\r\n");
  ASSERT_EQ(table.cases.size(), 1U);
  EXPECT_EQ(table.cases[0].one_gpu, 163);
  EXPECT_EQ(table.cases[0].gpus, 2);
  EXPECT_EQ(table.cases[0].network, "");
  EXPECT_TRUE(table.cases[0].single && table.cases[0].mg_wfbp);
}

TEST_F(PublishedRatesFile, OneGpuIsThatOfTheFirstModelledMethodWhateverTheOrder) {
  const PublishedTable table = load(kHeader +
                                    "R,64,n,ByteScheduler-A2A,1,111,\nR,64,n,mg_wfbp,1,333,\n"
                                    "R,64,n,single,1,250,\nR,64,n,wfbp,1,222,\n"
                                    "R,64,n,wfbp,8,1795,\nR,32,n,wfbp,8,1795,\n");
  EXPECT_EQ(table.cases[0].one_gpu, 250);
  EXPECT_EQ(table.cases[0].one_gpu_from, "");
  EXPECT_EQ(table.cases[1].one_gpu, 0) << "another batch size is another case";
  EXPECT_THAT(table.other_methods, ElementsAre("ByteScheduler-A2A"));
}

TEST_F(PublishedRatesFile, OneGpuOfAnotherInterconnectIsTakenBeforeAMethodThatIsNotModelled) {
  const PublishedTable table =
      load(kHeader +
           "R,64,a,Pigeons,1,111,\nR,64,b,wfbp,1,222,\nR,64,c,single,1,333,\n"
           "R,64,a,wfbp,8,1,\nR,64,c,wfbp,8,1,\nR,64,d,wfbp,8,1,\nS,64,a,Pigeons,1,9,\n"
           "S,64,a,wfbp,8,1,\n");
  EXPECT_EQ(table.cases[0].one_gpu, 222);
  EXPECT_EQ(table.cases[0].one_gpu_from, "wfbp on b");
  EXPECT_EQ(table.cases[1].one_gpu, 333) << "its own";
  EXPECT_EQ(table.cases[2].one_gpu, 222) << "the first of the others";
  EXPECT_EQ(table.cases[3].one_gpu, 9);
  EXPECT_EQ(table.cases[3].one_gpu_from, "Pigeons on a");
}

TEST_F(PublishedRatesFile, ACaseOfOtherMethodsOnlyIsNone) {
  const PublishedTable table = load(kHeader + "R,64,n,Pigeons,8,111,\n");
  EXPECT_THAT(table.cases, IsEmpty());
  EXPECT_THAT(table.other_methods, ElementsAre("Pigeons"));
}

TEST_F(PublishedRatesFile, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(load("\xEF\xBB\xBF" + kHeader + "R,64,n,wfbp,8,5,\n").cases.size(), 1U);
}

TEST_F(PublishedRatesFile, EveryErrorNamesItsPlace) {
  expect_error("", "0:1", "empty");
  expect_error("model,batch_size,method,gpus\n", "1:1", "'samples_per_s' is missing");
  expect_error("model,batch_size,method,gpu,samples_per_s\n", "1:25", "did you mean 'gpus'");
  expect_error("model,model,batch_size,method,gpus,samples_per_s\n", "1:7", "there already");
  expect_error(kHeader + "R\xE9,64,n,wfbp,8,1,0\n", "2:2", "UTF-8");
  expect_error(kHeader + "R,64,n,wfbp,8,1\n", "2:1", "6 fields, expected 7");
  expect_error(kHeader + "R,0,n,wfbp,8,1,0\n", "2:3", "'0'");
  expect_error(kHeader + "R,1.5,n,wfbp,8,1,0\n", "2:3", "whole");
  expect_error(kHeader + "R,64,n,wfbp,8,fast,0\n", "2:15", "'fast'");
  expect_error(kHeader + "R,64,n,wfbp,8,-1,0\n", "2:15", "'-1'");
  expect_error(kHeader + "R,64,n,wfbp,8,nan,0\n", "2:15", "'nan'");
  expect_error(kHeader + "R,64,n,wfbp,8,1,0\nR,64,n,wfbp,8,2,0\n", "3:8", "already");
  expect_error(kHeader + "R,64,n,BSP-A2A,8,1,0\nR,64,n,single,8,1,0\n", "3:8", "already");
  expect_error(kHeader + "R,64,n,wfbp,1,1,0\nR,64,n,wfbp,1,2,0\n", "3:8", "already");
  expect_error(kHeader + "R,64,n,Pigeons,8,1,0\nR,64,n,Pigeons,8,2,0\n", "3:8", "already");
  EXPECT_THAT([] { (void)load_published_rates("/nowhere/rates.csv"); },
              ThrowsMessage<InputError>(HasSubstr("/nowhere/rates.csv: cannot open")));
  EXPECT_THAT([] { (void)load_published_rates("/"); },
              ThrowsMessage<InputError>(HasSubstr("this is a directory")));
}

TEST_F(PublishedRatesFile, MoreThanTheLimitOfDataIsRefusedBeforeItIsRead) {
  const std::filesystem::path file = folder_.write("rates.csv", kHeader);
  std::filesystem::resize_file(file, (std::uintmax_t{1} << 30) + 1);  // takes no room on the disk
  EXPECT_THAT([&] { (void)load_published_rates(file); },
              ThrowsMessage<InputError>(HasSubstr("larger than")));
}

TEST(ModelIdOf, MatchesLettersAndDigitsOnly) {
  const std::vector<std::string> ids{"resnet50", "bert_base", "bert_large", "vgg16",
                                     "inception_v4"};
  EXPECT_EQ(model_id_of("ResNet-50", ids), "resnet50");
  EXPECT_EQ(model_id_of("BERT-Base", ids), "bert_base");
  EXPECT_EQ(model_id_of("BERT-Large", ids), "bert_large");
  EXPECT_EQ(model_id_of("VGG-16", ids), "vgg16");
  EXPECT_EQ(model_id_of("Inception-v4", ids), "inception_v4");
  EXPECT_EQ(model_id_of("BERT", ids), std::nullopt);
}

}  // namespace
}  // namespace mergewise
