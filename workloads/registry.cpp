// SPDX-License-Identifier: Apache-2.0
// All built-in networks by id.
#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "workloads/families.hpp"

#include <array>

namespace mergewise {
namespace {

struct Entry {
  const char* id;
  Model (*build)(const ModelArguments& arguments);
};

constexpr std::array<Entry, 20> kModels{{
    {"resnet18", [](const ModelArguments& arguments) { return resnet(18, arguments); }},
    {"resnet34", [](const ModelArguments& arguments) { return resnet(34, arguments); }},
    {"resnet50", [](const ModelArguments& arguments) { return resnet(50, arguments); }},
    {"resnet101", [](const ModelArguments& arguments) { return resnet(101, arguments); }},
    {"resnet152", [](const ModelArguments& arguments) { return resnet(152, arguments); }},
    {"vgg11", [](const ModelArguments& arguments) { return vgg(11, arguments); }},
    {"vgg13", [](const ModelArguments& arguments) { return vgg(13, arguments); }},
    {"vgg16", [](const ModelArguments& arguments) { return vgg(16, arguments); }},
    {"vgg19", [](const ModelArguments& arguments) { return vgg(19, arguments); }},
    {"googlenet", [](const ModelArguments& arguments) { return googlenet(true, arguments); }},
    {"googlenet_noaux",
     [](const ModelArguments& arguments) { return googlenet(false, arguments); }},
    {"inception_v3", [](const ModelArguments& arguments) { return inception_v3(true, arguments); }},
    {"inception_v3_noaux",
     [](const ModelArguments& arguments) { return inception_v3(false, arguments); }},
    {"inception_v4", [](const ModelArguments& arguments) { return inception_v4(arguments); }},
    {"densenet121", [](const ModelArguments& arguments) { return densenet(121, arguments); }},
    {"densenet161", [](const ModelArguments& arguments) { return densenet(161, arguments); }},
    {"densenet169", [](const ModelArguments& arguments) { return densenet(169, arguments); }},
    {"densenet201", [](const ModelArguments& arguments) { return densenet(201, arguments); }},
    {"bert_base", [](const ModelArguments& arguments) { return bert(kBertBase, arguments); }},
    {"bert_large", [](const ModelArguments& arguments) { return bert(kBertLarge, arguments); }},
}};

}  // namespace

std::vector<std::string> model_ids() {
  std::vector<std::string> ids;
  for (const Entry& entry : kModels) {
    ids.emplace_back(entry.id);
  }
  return ids;
}

Model build_model(const std::string& id, const ModelArguments& arguments) {
  for (const Entry& entry : kModels) {
    if (id == entry.id) {
      return entry.build(arguments);
    }
  }
  throw InputError(unknown_name("model", id, model_ids()));
}

}  // namespace mergewise
