// SPDX-License-Identifier: Apache-2.0
// Replays whose groups are compressed, between ranks that are threads.
#include "bench/collective/gloo/gloo_communicator.hpp"
#include "bench/core/error.hpp"
#include "bench/replay/replayer.hpp"
#include "kernels/compress/host_compressor.hpp"
#include "tests/unit/collective/rank_threads.hpp"
#include "tests/unit/device/allocation_counter.hpp"
#include "tests/unit/replay/fakes.hpp"
#include "tests/unit/replay/thread_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace mergewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// One is empty, two have one dimension; the whole fills the bits of its last byte.
const std::vector<std::size_t> kTensors{40, 1, 0, 24, 7, 600, 64};
const std::vector<bool> kVectors{false, true, false, true, false, false, false};
const std::vector<std::vector<std::size_t>> kPlans{{1, 2, 3, 4, 5, 6, 7}, {7}, {3, 4, 7}};

std::size_t elements() {
  std::size_t sum = 0;
  for (const std::size_t count : kTensors) sum += count;
  return sum;
}

std::vector<Bytes> tensor_bytes() {
  std::vector<Bytes> bytes;
  for (const std::size_t count : kTensors) bytes.push_back(static_cast<Bytes>(count * 4));
  return bytes;
}

MergePlan plan_for(const Compressor& compressor, const std::vector<std::size_t>& ends) {
  return plan_from_ends("test", ends,
                        compressor.summed_as() ? Collective::kAllReduce : Collective::kAllGather);
}

struct Case {
  std::string name;
  CompressorSpec spec;
};

void PrintTo(const Case& item, std::ostream* stream) { *stream << item.name; }

/// Each compressor with each memory, and what changes its messages.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& id : compressor_ids()) {
    if (id == "none") continue;
    for (const std::string& memory : compressor_memories(id)) {
      CompressorSpec spec = compressor_spec(id, {}, 7);
      spec.memory = memory;
      spec.density = 0.05;
      all.push_back({id + "_" + memory, spec});
    }
  }
  const auto variant = [&](const std::string& name, const std::string& of,
                           const std::function<void(CompressorSpec&)>& change) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Case& item) { return item.name == of; });
    Case changed = *found;
    changed.name = name;
    change(changed.spec);
    all.push_back(std::move(changed));
  };
  variant("topk_parts", "topk_residual", [](CompressorSpec& spec) { spec.messages = 2; });
  variant("randk_sent", "randk_none", [](CompressorSpec& spec) { spec.sends_indices = true; });
  variant("randk_parts", "randk_sent", [](CompressorSpec& spec) { spec.messages = 2; });
  variant("qsgd_group", "qsgd_residual", [](CompressorSpec& spec) { spec.bucket = 0; });
  variant("onebit_group", "onebit_residual", [](CompressorSpec& spec) { spec.group_scale = true; });
  variant("dgc_sparse", "dgc_velocity", [](CompressorSpec& spec) { spec.dense_vectors = false; });
  variant("dgc_warm", "dgc_velocity", [](CompressorSpec& spec) { spec.warm_up = 10; });
  return all;
}

/// A rank's replayer with all it needs.
struct Rig {
  Rig(Meeting& meeting, int rank, const CompressorSpec& spec, Buffers buffers = Buffers::kSlice,
      Log* log = nullptr)
      : communicator(meeting, rank), compute(log), compressor(make_host_compressor(spec)) {
    replayer = std::make_unique<Replayer>(*device, communicator, compute, tensor_bytes(), buffers,
                                          Replayer::GroupHook(), Iteration{},
                                          Compression{compressor.get(), kVectors});
  }
  [[nodiscard]] PreparedPlan prepare(const std::vector<std::size_t>& ends) const {
    return replayer->prepare(plan_for(*compressor, ends));
  }

  std::unique_ptr<Device> device = make_host_device();
  ThreadRank communicator;
  LoggingCompute compute;
  std::unique_ptr<Compressor> compressor;
  std::unique_ptr<Replayer> replayer;
};

/// Those among them that keep something, or this.
std::vector<Case> cases_with(const std::string& memory) {
  std::vector<Case> all = cases();
  std::erase_if(all, [&](const Case& item) {
    return memory.empty() ? item.spec.memory == "none" : item.spec.memory != memory;
  });
  return all;
}

void on_ranks(int ranks, const std::function<void(Meeting&, int rank)>& body) {
  Meeting meeting(ranks);
  run_threads(ranks, [&](int rank) { body(meeting, rank); });
}

class CompressedReplay : public testing::TestWithParam<Case> {};
class RememberingReplay : public testing::TestWithParam<Case> {};
class ResidualReplay : public testing::TestWithParam<Case> {};

TEST_P(CompressedReplay, EveryMergingGivesWhatTheReferenceSays) {
  // Three ranks: a P-th part of a gradient is no half, and sums of halves are rounded.
  for (const int ranks : {1, 3, 4}) {
    on_ranks(ranks, [](Meeting& meeting, int rank) {
      for (const Buffers buffers : {Buffers::kSlice, Buffers::kCopy}) {
        const Rig rig(meeting, rank, GetParam().spec, buffers);
        for (const auto& ends : kPlans) {
          auto plan = rig.prepare(ends);
          EXPECT_NO_THROW(rig.replayer->verify(plan));
        }
      }
    });
  }
}

TEST_P(CompressedReplay, WhatArrivesGarbledIsFoundAndTheCompressorNamed) {
  for (const auto& ends : kPlans) {
    on_ranks(4, [&](Meeting& meeting, int rank) {
      // Not the indices, where they travel first.
      if (rank == 0) meeting.garbles_every = GetParam().spec.messages;
      const Rig rig(meeting, rank, GetParam().spec);
      auto plan = rig.prepare(ends);
      if (rank == 0) {
        EXPECT_THAT([&] { rig.replayer->verify(plan); },
                    ThrowsMessage<VerificationError>(
                        AllOf(HasSubstr("strategy 'test' on rank 0"), HasSubstr("the mean"),
                              HasSubstr("'" + GetParam().spec.id + "'"))));
      } else {
        EXPECT_NO_THROW(rig.replayer->verify(plan));
      }
    });
  }
}

// As when a peer dies: what has arrived by then is no message, its indices may be any.
TEST_P(CompressedReplay, WhatDidNotArriveIsNotDecompressed) {
  class Lost : public ThreadRank {
   public:
    using ThreadRank::all_gather;
    using ThreadRank::ThreadRank;
    void all_gather(const std::byte*, std::size_t bytes, std::byte* received,
                    Stream& stream) override {
      lose(received, bytes, nullptr, stream);
    }
    void all_gather_counted(const std::byte*, const std::uint64_t*, std::size_t capacity,
                            std::byte* received, std::uint64_t* bytes, Stream& stream) override {
      lose(received, capacity, bytes, stream);
    }

   private:
    static void lose(std::byte* received, std::size_t size, std::uint64_t* bytes, Stream& stream) {
      as_host(stream).enqueue([received, size, bytes] {
        std::fill_n(received, size, std::byte{0x7F});
        if (bytes != nullptr) *bytes = size;
        throw BackendError("the peer is gone");
      });
    }
  };
  if (make_host_compressor(GetParam().spec)->summed_as()) return;  // a sum has no indices
  Meeting meeting(1);
  Lost lost(meeting, 0);
  const auto device = make_host_device();
  LoggingCompute compute(nullptr);
  const auto compressor = make_host_compressor(GetParam().spec);
  Replayer replayer(*device, lost, compute, tensor_bytes(), Buffers::kSlice, {}, {},
                    {compressor.get(), kVectors});
  auto plan = replayer.prepare(plan_for(*compressor, {7}));
  EXPECT_THAT([&] { replayer.verify(plan); },
              ThrowsMessage<BackendError>(HasSubstr("the peer is gone")));
}

#ifndef __SANITIZE_THREAD__  // Gloo is compiled without that sanitizer.
TEST(CompressedReplays, AreTheSameOverARealNetwork) {
  run_ranks(4, [](ControlPlane& control) {
    const auto gloo = make_gloo_communicator(control, 4, on_loopback());
    for (const Case& item : cases()) {
      const auto device = make_host_device();
      LoggingCompute compute(nullptr);
      const auto compressor = make_host_compressor(item.spec);
      Replayer replayer(*device, *gloo, compute, tensor_bytes(), Buffers::kSlice, {}, {},
                        {compressor.get(), kVectors});
      for (const auto& ends : kPlans) {
        auto plan = replayer.prepare(plan_for(*compressor, ends));
        EXPECT_NO_THROW(replayer.verify(plan)) << item.name;
        std::vector<Stamp> stamps;
        replayer.run(plan, 3, stamps);
      }
    }
    control.barrier();
  });
}
#endif

TEST_P(RememberingReplay, ALostMemoryIsFound) {
  // Spoils the memory of the first tensor once it was compressed.
  class Forgetful : public LoggingCompute {
   public:
    Forgetful() : LoggingCompute(nullptr) {}
    void backward(Stream& stream, std::size_t tensor) override {
      if (tensor == 6) as_host(stream).enqueue([this] { memory[0] += 1; });
    }
    std::span<float> memory;
  };
  on_ranks(1, [](Meeting& meeting, int rank) {
    Rig rig(meeting, rank, GetParam().spec);
    Forgetful compute;
    Replayer replayer(*rig.device, rig.communicator, compute, tensor_bytes(), Buffers::kSlice, {},
                      {}, {rig.compressor.get(), kVectors});
    compute.memory = replayer.memory();
    auto plan = replayer.prepare(plan_for(*rig.compressor, {1, 7}));
    EXPECT_THAT([&] { replayer.verify(plan); },
                ThrowsMessage<VerificationError>(
                    AllOf(HasSubstr("group 0, tensor 0"), HasSubstr("element 0: the memory is"))));
  });
}

TEST_P(CompressedReplay, AllocatesNothingPerIterationAfterTheFirstBlock) {
  Meeting meeting(1);
  for (const Buffers buffers : {Buffers::kSlice, Buffers::kCopy}) {
    const Rig rig(meeting, 0, GetParam().spec, buffers);
    auto plan = rig.prepare(kPlans[2]);
    std::vector<Stamp> stamps;
    rig.replayer->run(plan, 8, stamps);
    const auto before = allocation_count();
    rig.replayer->run(plan, 8, stamps);
    EXPECT_EQ(allocation_count() - before, 0);
  }
}

TEST_P(ResidualReplay, WhatWasNotSentStaysWhenThePlanChanges) {
  const CompressorSpec& spec = GetParam().spec;
  constexpr int kRanks = 4;
  constexpr int kIterations = 3;  // of each plan
  // By element: what all iterations' means and the ranks' residuals add up to, and must.
  std::vector<double> sums(elements());
  std::vector<double> expected(elements());
  std::mutex mutex;
  on_ranks(kRanks, [&](Meeting& meeting, int rank) {
    const Rig rig(meeting, rank, spec);
    std::vector<double> sent(elements());
    for (const auto& ends : kPlans) {
      auto plan = rig.prepare(ends);
      std::vector<Stamp> stamps;
      for (int i = 0; i < kIterations; ++i) {
        rig.replayer->run(plan, 1, stamps);
        for (std::size_t e = 0; e < sent.size(); ++e) sent[e] += rig.replayer->results()[e];
      }
    }
    const std::scoped_lock lock(mutex);
    for (std::size_t e = 0; e < sums.size(); ++e) {
      sums[e] += sent[e] / kRanks + rig.replayer->memory()[e] / kRanks;
      expected[e] +=
          static_cast<double>(kPlans.size()) * kIterations * rig.replayer->gradients()[e] / kRanks;
    }
  });
  // Gradients are about 0.01; bf16 keeps 8 bits of a mean that is summed in it.
  const double tolerance = spec.id == "bf16" ? 3e-3 : spec.id == "fp16" ? 4e-4 : 2e-6;
  for (std::size_t e = 0; e < sums.size(); ++e) ASSERT_NEAR(sums[e], expected[e], tolerance) << e;
}

constexpr auto kName = [](const auto& test) { return test.param.name; };
INSTANTIATE_TEST_SUITE_P(All, CompressedReplay, testing::ValuesIn(cases()), kName);
INSTANTIATE_TEST_SUITE_P(All, RememberingReplay, testing::ValuesIn(cases_with("")), kName);
INSTANTIATE_TEST_SUITE_P(All, ResidualReplay, testing::ValuesIn(cases_with("residual")), kName);

const CompressorSpec kSigns = compressor_spec("ef_signsgd");
const CompressorSpec kHalves = compressor_spec("fp16");

TEST(CompressedReplays, APlanThatChangesInMidRunGoesOnAsIfItHadAlwaysBeenThere) {
  // Scales and draws are those of tensors: the plan makes no difference.
  for (const std::string id : {"ef_signsgd", "onebit", "signum", "terngrad", "fp16"}) {
    std::set<std::vector<float>> memories;
    for (const bool changes : {false, true}) {
      Meeting meeting(1);
      CompressorSpec spec = compressor_spec(id);
      if (spec.memory == "none") spec.memory = "residual";
      const Rig rig(meeting, 0, spec);
      std::vector<Stamp> stamps;
      for (const std::size_t plan_index : {0U, 1U, 2U, 0U}) {
        auto plan = rig.prepare(kPlans[changes ? plan_index : 1]);
        rig.replayer->run(plan, 2, stamps);
      }
      const auto memory = rig.replayer->memory();
      memories.emplace(memory.begin(), memory.end());
    }
    EXPECT_EQ(memories.size(), 1U) << id;
  }
}

TEST(CompressedReplays, GroupsAreDecompressedInOrderBehindAllBackwardAndCompressionWork) {
  for (const Buffers buffers : {Buffers::kSlice, Buffers::kCopy}) {
    Meeting meeting(1);
    const Rig rig(meeting, 0, kSigns, buffers);
    auto plan = rig.prepare(kPlans[2]);
    for (const IterationStamps& it : rig.replayer->run_with_spans(plan, 2)) {
      std::vector<std::pair<Activity, std::size_t>> order;
      for (const StampedSpan& span : it.spans) {
        if (span.lane == Lane::kCompute) order.emplace_back(span.activity, span.index);
      }
      const std::vector<std::pair<Activity, std::size_t>> expected{
          {Activity::kForward, 0},  {Activity::kBackward, 0}, {Activity::kPack, 0},
          {Activity::kBackward, 1}, {Activity::kPack, 1},     {Activity::kBackward, 2},
          {Activity::kPack, 2},     {Activity::kUnpack, 0},   {Activity::kUnpack, 1},
          {Activity::kUnpack, 2}};
      EXPECT_EQ(order, expected);
      for (const StampedSpan& span : it.spans) {
        if (span.activity != Activity::kTransfer) continue;
        for (const StampedSpan& other : it.spans) {
          if (other.index != span.index) continue;
          EXPECT_TRUE(other.activity != Activity::kPack || other.end <= span.begin);
          EXPECT_TRUE(other.activity != Activity::kUnpack || other.begin >= span.end);
        }
      }
    }
  }
}

TEST(CompressedReplays, GradientsStayAndMeansGoToAPlaceOfTheirOwn) {
  for (const Buffers buffers : {Buffers::kSlice, Buffers::kCopy}) {
    Meeting meeting(1);
    const Rig rig(meeting, 0, kHalves, buffers);
    auto plan = rig.prepare(kPlans[0]);
    std::fill_n(rig.replayer->gradients(), elements(), 0.1F);
    std::vector<Stamp> stamps;
    rig.replayer->run(plan, 2, stamps);
    EXPECT_EQ(rig.replayer->gradients()[elements() - 1], 0.1F);
    EXPECT_EQ(rig.replayer->results()[elements() - 1], 0.0999755859375F) << "the nearest half";
  }
}

TEST(CompressedReplays, CountWhatWasSentAndWhatWasNoNumber) {
  Meeting meeting(1);
  const Rig rig(meeting, 0, kSigns);
  auto plan = rig.prepare({3, 7});
  rig.replayer->verify(plan);
  EXPECT_EQ(plan.messages->totals.iterations, 0) << "verifying does not count";
  rig.replayer->gradients()[3] = std::numeric_limits<float>::quiet_NaN();
  rig.replayer->gradients()[4] = std::numeric_limits<float>::infinity();
  rig.replayer->gradients()[5] = -std::numeric_limits<float>::infinity();
  std::vector<Stamp> stamps;
  rig.replayer->run(plan, 5, stamps);
  const MessageTotals& totals = plan.messages->totals;
  EXPECT_EQ(totals.iterations, 5);
  // Signs of 41 and 695 elements, scales of 2 and 4 tensors.
  EXPECT_EQ(totals.bytes, 5 * (6 + 4 * 2 + 87 + 4 * 4U));
  EXPECT_EQ(totals.nans, 5U);
  EXPECT_EQ(totals.infinities, 10U);
}

TEST(CompressedReplays, RefuseAPlanThatDoesNotFitTheCompressor) {
  Meeting meeting(1);
  const auto refused = [](const Rig& rig, const MergePlan& plan, const std::string& needed) {
    EXPECT_THAT([&] { (void)rig.replayer->prepare(plan); },
                ThrowsMessage<UnsupportedError>(
                    AllOf(HasSubstr("'" + plan.strategy + "'"),
                          HasSubstr("'" + rig.compressor->spec().id + "'"), HasSubstr(needed))));
  };
  const Rig signs(meeting, 0, kSigns);
  const Rig halves(meeting, 0, kHalves);
  refused(signs, plan_from_ends("summed", {7}), "all_gather");
  refused(halves, plan_from_ends("gathered", {7}, Collective::kAllGather), "all_reduce");
  MergePlan scattered = plan_from_ends("scattered", {7}, Collective::kReduceScatter);
  scattered.groups.push_back({0, 7, Collective::kAllGather, BeforeForward{}});
  refused(signs, scattered, "all_gather");
  refused(halves, scattered, "all_reduce");
}

}  // namespace
}  // namespace mergewise
