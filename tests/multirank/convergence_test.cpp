// SPDX-License-Identifier: Apache-2.0
// Compressed training reaches the loss of dense training, merged or not: four ranks, each with its
// own points, real collectives, layers whose gradients differ a hundredfold.
#include "bench/collective/gloo/gloo_communicator.hpp"
#include "bench/core/compressor_spec.hpp"
#include "bench/device/host/host_device.hpp"
#include "kernels/compress/host_compressor.hpp"
#include "tests/multirank/networks.hpp"
#include "tests/unit/collective/rank_threads.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mergewise::test {
namespace {

constexpr int kRanks = 4;
constexpr std::size_t kInputs = 24;
constexpr float kLearningRate = 0.5F;
// Of what dense training gains.
constexpr double kMargin = 0.03;

struct Group {
  std::size_t begin;  // tensor
  std::size_t end;
};

/// How a group's gradient becomes the mean of all ranks'.
class Exchange {
 public:
  /// Nothing: dense.
  Exchange(Communicator& communicator, Stream& stream, const std::optional<CompressorSpec>& spec,
           const Network& network, Group group)
      : communicator_(communicator),
        stream_(stream),
        layout_(static_cast<std::uint32_t>(group.begin),
                std::vector<std::size_t>(
                    network.tensors().begin() + static_cast<std::ptrdiff_t>(group.begin),
                    network.tensors().begin() + static_cast<std::ptrdiff_t>(group.end))) {
    if (!spec) return;
    compressor_ = make_host_compressor(*spec);
    memory_.resize(compressor_->memory_floats() * layout_.elements());
    message_.resize(compressor_->message_bytes(layout_));
    scratch_.resize(compressor_->scratch_bytes(layout_) / sizeof(double) + 1);
    received_.resize(message_.size() * kRanks);
  }

  void average(std::span<float> gradient, std::uint32_t iteration) {
    if (compressor_ == nullptr) {
      communicator_.all_reduce(gradient.data(), gradient.size(), stream_);
      stream_.synchronize();
      for (float& value : gradient) value /= kRanks;
      return;
    }
    const CompressStep step{iteration, static_cast<std::uint16_t>(communicator_.rank()), kRanks};
    MessageFacts facts;
    compressor_->compress(layout_, step, gradient, memory_, message_,
                          std::as_writable_bytes(std::span(scratch_)), facts);
    std::vector<std::uint64_t> sizes(compressor_->varies() ? kRanks : 0);
    const auto type = compressor_->summed_as();
    if (type) {
      const auto size = static_cast<std::size_t>(size_of(*type));
      communicator_.all_reduce(message_.data(), message_.size() / size, *type, stream_);
    } else if (compressor_->varies()) {
      communicator_.all_gather_counted(message_.data(), &facts.bytes, message_.size(),
                                       received_.data(), sizes.data(), stream_);
    } else {
      communicator_.all_gather(message_.data(), message_.size(), received_.data(), stream_);
    }
    stream_.synchronize();
    compressor_->decompress(layout_, step, type ? message_ : received_, sizes, gradient);
  }

 private:
  Communicator& communicator_;
  Stream& stream_;
  GroupLayout layout_;
  std::unique_ptr<Compressor> compressor_;
  std::vector<float> memory_;
  std::vector<std::byte> message_;
  std::vector<double> scratch_;
  std::vector<std::byte> received_;
};

/// Every other tensor's gradient is sent a hundredth as large, as if its weights were measured in
/// other units.
float unit_of_tensor(std::size_t tensor) { return tensor % 2 == 0 ? 1.0F : 0.01F; }

struct Training {
  std::optional<CompressorSpec> spec;
  float learning_rate = kLearningRate;
  std::uint32_t iterations = 100;
  bool merged = false;
};

/// Gradient descent; returns the loss over all ranks' points afterwards. All ranks must end with
/// the same weights.
double loss_after(const Network& network, const std::vector<Points>& points,
                  Communicator& communicator, Stream& stream, const Training& training) {
  const std::vector<std::size_t>& tensors = network.tensors();
  std::vector<Group> groups{{0, tensors.size()}};
  if (!training.merged) {
    groups.clear();
    for (std::size_t t = 0; t < tensors.size(); ++t) groups.push_back({t, t + 1});
  }
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (const Group group : groups) {
    exchanges.push_back(
        std::make_unique<Exchange>(communicator, stream, training.spec, network, group));
  }
  std::vector<float> units;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    units.insert(units.end(), tensors[t], unit_of_tensor(t));
  }
  Weights weights = network.initial();
  Weights gradient;
  for (std::uint32_t iteration = 0; iteration < training.iterations; ++iteration) {
    network.evaluate(weights, points[static_cast<std::size_t>(communicator.rank())], &gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] *= units[i];
    std::size_t begin = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::size_t size = 0;
      for (std::size_t t = groups[g].begin; t < groups[g].end; ++t) size += tensors[t];
      exchanges[g]->average(std::span(gradient).subspan(begin, size), iteration);
      begin += size;
    }
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      weights[i] -= training.learning_rate * gradient[i] / units[i];
    }
  }
  double loss = 0;
  for (const Points& own : points) loss += network.evaluate(weights, own, nullptr) / kRanks;
  return loss;
}

std::vector<Points> points_of_all_ranks() {
  std::vector<Points> points;
  for (std::uint64_t rank = 0; rank < kRanks; ++rank) {
    points.push_back(make_points(128, kInputs, 100 + rank));
  }
  return points;
}

/// With error feedback. Those that send few elements take shorter steps, and more of them.
struct Case {
  std::string id;
  std::map<std::string, OptionValue> given;
  std::uint32_t iterations = 100;
  float part = 1;  // of the learning rate
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases{
      {"fp16", {{"memory", "residual"}}},
      // Merged, tensors of small gradients wait until they have gathered a hundredfold.
      {"topk", {{"density", 0.25}}, 300, 0.3F},
      {"randk", {{"density", 0.25}, {"memory", "residual"}}},
      {"dgc", {{"density", 0.25}}, 150, 0.5F},
      {"qsgd", {{"memory", "residual"}}},
      {"ef_signsgd", {}},
      {"onebit", {}},
      {"terngrad", {{"memory", "residual"}}},
  };
  return kCases;
}

/// What each training ends with, the same on all ranks.
std::vector<double> losses_after(const Network& network, const std::vector<Training>& trainings) {
  const std::vector<Points> points = points_of_all_ranks();
  std::vector<std::vector<double>> losses(kRanks);
  run_ranks(kRanks, [&](ControlPlane& control) {
    const auto device = make_host_device();
    const auto communicator = make_gloo_communicator(control, kRanks, on_loopback());
    const auto stream = device->create_stream(StreamRole::kCommunication);
    for (const Training& training : trainings) {
      losses[static_cast<std::size_t>(control.rank())].push_back(
          loss_after(network, points, *communicator, *stream, training));
    }
    control.barrier();
  });
  for (const std::vector<double>& of_rank : losses) EXPECT_EQ(of_rank, losses.front());
  return losses.front();
}

void expect_convergence(const Network& network) {
  std::vector<Training> trainings{{.spec = {}, .iterations = 0}, {.spec = {}, .merged = true}};
  for (const Case& one : cases()) {
    for (const bool merged : {false, true}) {
      trainings.push_back({.spec = compressor_spec(one.id, Options(one.given), 5),
                           .learning_rate = one.part * kLearningRate,
                           .iterations = one.iterations,
                           .merged = merged});
    }
  }
  const std::vector<double> losses = losses_after(network, trainings);
  const double first = losses[0];
  const double dense = losses[1];
  ASSERT_LT(dense, 0.6 * first) << "there is something to learn";
  for (std::size_t i = 2; i < trainings.size(); ++i) {
    EXPECT_LT(losses[i], dense + kMargin * (first - dense))
        << trainings[i].spec->id
        << (trainings[i].merged ? ", merged" : ", a message for each tensor");
  }
}

TEST(Convergence, LogisticRegressionReachesTheDenseLoss) {
  expect_convergence(LogisticRegression(kInputs));
}

TEST(Convergence, PerceptronReachesTheDenseLoss) { expect_convergence(Perceptron(kInputs, 8)); }

// Why scales are each tensor's own: merged messages with one scale for all do not learn.
TEST(Convergence, MergingScalesCostsAccuracyMergingMessagesDoesNot) {
  std::vector<Training> trainings;
  for (const char* scale : {"tensor", "group"}) {
    trainings.push_back(
        {.spec = compressor_spec("onebit",
                                 Options(std::map<std::string, OptionValue>{{"scale", scale}})),
         .learning_rate = 2 * kLearningRate,
         .merged = true});
  }
  const std::vector<double> losses = losses_after(LogisticRegression(kInputs), trainings);
  EXPECT_GT(losses[1], losses[0] + 0.2);
}

}  // namespace
}  // namespace mergewise::test
