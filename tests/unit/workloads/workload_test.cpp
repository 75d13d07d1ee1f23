// SPDX-License-Identifier: Apache-2.0
// Layer times and the attribution of backward work to tensors.
#include "workloads/workload.hpp"

#include "bench/core/error.hpp"
#include "workloads/builder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

/// A device on which a pass takes 1 ns plus 1 ns a flop; memory costs nothing.
Accelerator simple_device() {
  Accelerator device;
  device.name = "simple";
  device.arithmetic = "fp32";
  device.peak_flops = 2e9;
  device.flops_fraction = 0.5;
  device.memory_bytes_per_s = 1e30;
  device.bandwidth_fraction = 1;
  device.layer_overhead_ns = 1;
  return device;
}

Nanoseconds backward_sum(const Workload& workload) {
  Nanoseconds sum = 0;
  for (const WorkloadTensor& tensor : workload.tensors) {
    sum += tensor.backward_ns;
  }
  return sum;
}

/// relu(in) -> fc1 -> relu -> fc2 -> tanh
Model small_net() {
  Builder net("small", {2});
  Value x = net.activation("prepare", net.input());
  x = net.activation("relu", net.linear("fc1", x, 3));
  net.activation("tanh", net.linear("fc2", x, 5));
  return net.build();
}

TEST(Workload, GivesALayersTimeToItsFirstReadyTensor) {
  const Workload workload = make_workload(small_net(), 1, simple_device());
  ASSERT_EQ(workload.tensors.size(), 4U);
  EXPECT_EQ(workload.tensors[0].name, "fc2.bias");
  EXPECT_EQ(workload.tensors[0].layer, "fc2");
  EXPECT_THAT(workload.tensors[1].shape, ElementsAre(5, 3));
  EXPECT_EQ(workload.tensors[1].bytes, 60);
  // tanh (1 ns) and fc2: 1 ns + two products of 15 macs.
  EXPECT_DOUBLE_EQ(workload.tensors[0].backward_ns, 1 + 1 + 60);
  EXPECT_DOUBLE_EQ(workload.tensors[0].forward_ns, 1 + 1 + 30);
  EXPECT_DOUBLE_EQ(workload.tensors[1].backward_ns, 0);
  EXPECT_DOUBLE_EQ(workload.tensors[2].backward_ns, 1 + 1 + 24);
  EXPECT_DOUBLE_EQ(workload.tensors[3].backward_ns, 1);
  EXPECT_DOUBLE_EQ(workload.forward_ns, 1 + 13 + 1 + 31 + 1);
}

TEST(Workload, AddsLayersWithoutTensorsToTheNextReadyTensorOrTheLast) {
  const Workload workload = make_workload(small_net(), 1, simple_device());
  // Forward order: 0 prepare, 1 fc1, 2 relu, 3 fc2, 4 tanh.
  EXPECT_THAT(workload.backward_layers,
              ElementsAre(ElementsAre(4, 3), ElementsAre(), ElementsAre(2, 1), ElementsAre(0)));
}

TEST(Workload, BoundsAPassByMemoryWhereThatIsSlower) {
  Accelerator device = simple_device();
  device.memory_bytes_per_s = 2e9;
  device.bandwidth_fraction = 0.5;
  const Workload workload = make_workload(small_net(), 1, device);
  // tanh: 5 elements read and written forward; x, dy, dx backward.
  EXPECT_DOUBLE_EQ(workload.tensors[0].forward_ns, (1 + 40) + (1 + 4 * (3 + 5 + 15 + 5)));
}

class WorkloadOfModel : public testing::TestWithParam<std::string> {};

TEST_P(WorkloadOfModel, AttachesEveryLayerExactlyOnceInReverseForwardOrder) {
  const Model model = build_model(GetParam());
  const Workload workload = make_workload(model, 2, simple_device());
  ASSERT_EQ(workload.backward_layers.size(), workload.tensors.size());
  std::vector<std::size_t> executed;
  for (const std::vector<std::size_t>& layers : workload.backward_layers) {
    executed.insert(executed.end(), layers.begin(), layers.end());
  }
  std::vector<std::size_t> expected;
  for (std::size_t layer = model.layers.size(); layer-- > 0;) {
    expected.push_back(layer);
  }
  EXPECT_EQ(executed, expected);
}

TEST_P(WorkloadOfModel, AddsUpToTheWholePass) {
  const Model model = build_model(GetParam());
  const Accelerator device = simple_device();
  const Workload workload = make_workload(model, 2, device);
  Nanoseconds forward = 0;
  Nanoseconds backward = 0;
  for (const LayerWork& work : workload.layers) {
    forward += device.layer_overhead_ns + work.forward_flops();
    backward += device.layer_overhead_ns + work.backward_flops();
  }
  Nanoseconds of_tensors = 0;
  for (const WorkloadTensor& tensor : workload.tensors) {
    of_tensors += tensor.forward_ns;
  }
  EXPECT_DOUBLE_EQ(workload.forward_ns, of_tensors);
  EXPECT_NEAR(workload.forward_ns / forward, 1, 1e-12);
  EXPECT_NEAR(backward_sum(workload) / backward, 1, 1e-12);
  EXPECT_THAT(workload.times_from, HasSubstr("not scaled"));
}

INSTANTIATE_TEST_SUITE_P(Models, WorkloadOfModel, testing::ValuesIn(model_ids()),
                         [](const auto& model) { return model.param; });

Nanoseconds pass_sum(const Workload& workload) {
  return workload.forward_ns + backward_sum(workload);
}

TEST(Workload, IsScaledAtThePublishedBatchWhateverItsOwn) {
  Accelerator device = simple_device();
  device.layer_overhead_ns = 1e9;  // of a pass, not of a sample: small batches take longer for each
  const Model model = build_model("resnet50");
  const auto total = [&](std::int64_t batch) {
    return pass_sum(make_workload(model, batch, device));
  };
  const double plain_ratio = total(1) / total(64);
  EXPECT_GT(plain_ratio, 2.0 / 64);
  device.throughput.push_back({"resnet50", 250, {}, 64});
  EXPECT_NEAR(total(64) / (64e9 / 250), 1, 1e-12);
  EXPECT_NEAR(total(1) / total(64) / plain_ratio, 1, 1e-9);
  EXPECT_EQ(make_workload(model, 64, device).times_from,
            "roofline simple (fp32), scaled to 250 samples/s");
  EXPECT_EQ(make_workload(model, 1, device).times_from,
            "roofline simple (fp32), scaled to 250 samples/s at batch 64");
}

TEST(Workload, ScalesOtherInputsByTheSameFactor) {
  Accelerator device = simple_device();
  const auto total = [&](std::int64_t length) {
    return pass_sum(
        make_workload(build_model("bert_base", {.sequence_length = length}), 8, device));
  };
  const double plain_ratio = total(128) / total(64);
  device.throughput.push_back({"bert_base", 200, {.sequence_length = 64}, 8});
  EXPECT_NEAR(total(64) / (1e9 * 8 / 200), 1, 1e-12);
  EXPECT_NEAR(total(128) / total(64), plain_ratio, 1e-9);
  EXPECT_THAT(make_workload(build_model("bert_base"), 8, device).times_from,
              HasSubstr("200 samples/s at batch 8 and inputs of 64"));
}

TEST(Workload, ScalesToTheSameInputThenTheNearestBatchThenTheFirst) {
  Accelerator device = simple_device();
  device.throughput.push_back({"bert_base", 200, {.sequence_length = 64}, 32});
  device.throughput.push_back({"bert_base", 90, {.sequence_length = 128}, 32});
  device.throughput.push_back({"bert_base", 80, {.sequence_length = 128}, 4});
  device.throughput.push_back({"bert_base", 85, {.sequence_length = 128}, 16});
  const auto times_from = [&](std::int64_t length, std::int64_t batch) {
    return make_workload(build_model("bert_base", {.sequence_length = length}), batch, device)
        .times_from;
  };
  EXPECT_THAT(times_from(64, 4), HasSubstr("scaled to 200 samples/s at batch 32"));
  EXPECT_THAT(times_from(128, 32), EndsWith("scaled to 90 samples/s"));
  EXPECT_THAT(times_from(128, 1000), HasSubstr("scaled to 90 samples/s"));
  EXPECT_THAT(times_from(128, 5), HasSubstr("scaled to 80 samples/s"));
  EXPECT_THAT(times_from(128, 9), HasSubstr("scaled to 85 samples/s")) << "by ratio";
  EXPECT_THAT(times_from(128, 8), HasSubstr("scaled to 80 samples/s")) << "as near: the first";
  EXPECT_THAT(times_from(256, 30), HasSubstr("200 samples/s at batch 32 and inputs of 64"));
}

TEST(Workload, SaysWhichLayersTookNoPartInThePublishedTraining) {
  Accelerator device = simple_device();
  const Model model = build_model("bert_base");
  const Nanoseconds plain = pass_sum(make_workload(model, 32, device));
  PublishedThroughput published{"bert_base", 90, {}};
  published.without = "cls.";
  const double modelled = modelled_throughput(published, device);
  device.throughput.push_back(published);
  const Workload workload = make_workload(model, 32, device);
  EXPECT_EQ(workload.times_from, "roofline simple (fp32), scaled to 90 samples/s without cls.");
  EXPECT_NEAR(pass_sum(workload) / plain / (modelled / 90), 1, 1e-12);
  EXPECT_THAT(make_workload(model, 8, device).times_from,
              EndsWith("scaled to 90 samples/s without cls. at batch 32"));
}

TEST(Workload, IsNotScaledToWhatIsOnlyCompared) {
  Accelerator device = simple_device();
  PublishedThroughput published{"resnet50", 250, {}};
  published.compare_only = true;
  device.throughput.push_back(published);
  const Model model = build_model("resnet50");
  EXPECT_THAT(make_workload(model, 32, device).times_from, EndsWith("not scaled"));
  device.throughput.push_back({"resnet50", 100, {}, 1});
  EXPECT_THAT(make_workload(model, 32, device).times_from,
              EndsWith("scaled to 100 samples/s at batch 1"));
}

TEST(Workload, LeavesTheUpdateOutOfThePublishedTime) {
  Accelerator device = simple_device();
  device.memory_bytes_per_s = 1e9;
  device.bandwidth_fraction = 1;
  const Model model = build_model("resnet50");
  PublishedThroughput published{"resnet50", 10, {}};
  published.batch = 20;
  published.update_passes = 3;  // of 102 MB at 1 GB/s: 0.31 s of the 2 s
  device.throughput.push_back(published);
  const double update_s = 3 * 4e-9 * static_cast<double>(model.total_parameters());
  const Workload workload = make_workload(model, 20, device);
  EXPECT_NEAR((workload.forward_ns + backward_sum(workload)) / 1e9, 2 - update_s, 1e-9);
}

TEST(ModelledThroughput, IsWhatTheUnscaledTimesGive) {
  const Accelerator device = simple_device();
  PublishedThroughput published{"resnet18", 1, {.image_size = 64}};
  published.batch = 5;
  const Workload workload = make_workload(build_model("resnet18", {.image_size = 64}), 5, device);
  const double plain = modelled_throughput(published, device);
  EXPECT_NEAR(plain, 5e9 / (workload.forward_ns + backward_sum(workload)), 1e-9 * plain);

  published.without = "layer";
  EXPECT_GT(modelled_throughput(published, device), 5 * plain)
      << "only the stem and the end remain";
  published.without = "";
  published.update_passes = 1e30 / 1e9;  // memory costs nothing on this device, but this many do
  EXPECT_LT(modelled_throughput(published, device), plain);
}

/// A device on which a flop takes 1 ns, 2 ns in a convolution, half a one in a square convolution.
Accelerator device_with_rates() {
  Accelerator device = simple_device();
  device.layer_overhead_ns = 0;
  device.flops_fraction = 1;
  device.peak_flops = 1e9;
  device.memory_bytes_per_s = 1e12;
  device.achieved["conv"] = {0.5, 1};
  device.achieved["conv_square"] = {2, 1};
  device.achieved["norm"] = {1, 0.5};
  return device;
}

Nanoseconds forward_of(const Workload& workload, const std::string& layer) {
  Nanoseconds sum = 0;
  for (const WorkloadTensor& tensor : workload.tensors) {
    sum += tensor.layer == layer ? tensor.forward_ns : 0;
  }
  return sum;
}

TEST(Workload, GivesEachKindOfLayerItsOwnRates) {
  Builder net("rates", {4, 8, 8});
  Value x = net.conv2d("one", net.input(), 4, square(1), {.bias = false});
  x = net.conv2d("three", x, 4, square(3, 1, 1), {.bias = false});
  x = net.conv2d("five", x, 4, square(5, 1, 2), {.bias = false});
  x = net.conv2d("stride", x, 4, square(3, 2, 1), {.bias = false});
  net.batch_norm("norm", x);
  const Workload workload = make_workload(net.build(), 1, device_with_rates());
  const std::vector<LayerWork>& layers = workload.layers;
  EXPECT_DOUBLE_EQ(forward_of(workload, "one"), 2 * layers[0].forward_flops());
  EXPECT_DOUBLE_EQ(forward_of(workload, "three"), layers[1].forward_flops() / 2);
  EXPECT_DOUBLE_EQ(forward_of(workload, "five"), layers[2].forward_flops() / 2);
  EXPECT_DOUBLE_EQ(forward_of(workload, "stride"), 2 * layers[3].forward_flops());
  EXPECT_DOUBLE_EQ(forward_of(workload, "norm"),
                   static_cast<double>(layers[4].forward_bytes) / 500);
}

TEST(Workload, TellsASquareConvolutionByItsStrideWhateverTheImage) {
  Builder net("strides", {4, 5, 5});
  // Inception-v3's auxiliary head: 25 times fewer pixels after it, though it moves by one.
  Value x = net.conv2d("unpadded", net.input(), 4, square(5), {.bias = false});
  x = net.conv2d("strided", x, 4, square(3, 2, 1), {.bias = false});  // of a single pixel
  net.conv2d("one_way", x, 4, {{3, 3}, {1, 2}, {1, 1}}, {.bias = false});
  const Workload workload = make_workload(net.build(), 1, device_with_rates());
  const std::vector<LayerWork>& layers = workload.layers;
  EXPECT_DOUBLE_EQ(forward_of(workload, "unpadded"), layers[0].forward_flops() / 2);
  EXPECT_DOUBLE_EQ(forward_of(workload, "strided"), 2 * layers[1].forward_flops());
  EXPECT_DOUBLE_EQ(forward_of(workload, "one_way"), 2 * layers[2].forward_flops());
}

TEST(Workload, RefusesAnImpossibleBatch) {
  EXPECT_THROW(static_cast<void>(make_workload(small_net(), 0, simple_device())), InputError);
}

TEST(Workload, GivesEachLayerToOneTensorWhateverTheReadyOrder) {
  Model model = small_net();
  std::reverse(model.ready_order.begin(), model.ready_order.end());
  // fc1's weight is ready first now, and fc2's.
  EXPECT_THAT(make_workload(model, 1, simple_device()).backward_layers,
              ElementsAre(ElementsAre(2, 1), ElementsAre(), ElementsAre(4, 3), ElementsAre(0)));
}

TEST(Workload, NeedsAReadyOrder) {
  Model model = small_net();
  model.ready_order.clear();
  EXPECT_THROW(static_cast<void>(make_workload(model, 1, simple_device())), std::logic_error);
}

}  // namespace
}  // namespace mergewise
