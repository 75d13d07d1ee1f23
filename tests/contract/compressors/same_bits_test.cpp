// SPDX-License-Identifier: Apache-2.0
// The CUDA compressors give the host's bits, in any order of threads.
#include "kernels/compress/host_compressor.hpp"
#include "tests/contract/compressors/cases.hpp"
#include "tests/simt/cuda_api.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <utility>

namespace mergewise::test {
namespace {

using simt::ThreadOrder;

struct Group {
  std::vector<std::size_t> sizes;
  std::vector<bool> vectors;
};

// Codes of several tensors in a byte, draws that begin anywhere, chunks that are not full.
const std::vector<Group> kGroups{
    {kSizes, kVectors},
    {{1}, {}},
    {{7, 2, 0, 3, 1, 1, 1, 8, 1}, {false, true, false, false, false, true, false, false, false}},
    {{4097, 31, 8191, 33}, {false, true, false, false}}};

// Votes of an even number may be tied.
constexpr std::uint16_t kRanks = 4;

struct Outcome {
  std::vector<Message> messages;
  std::vector<Floats> memories;
  Floats mean;
  std::vector<MessageFacts> facts;
};

// Two iterations; one rank's gradient is not all finite, another's is mostly zeros.
Outcome outcome_of(Compressor& compressor, const Group& group) {
  const GroupLayout layout(2, group.sizes, group.vectors);
  Outcome outcome;
  outcome.memories.assign(kRanks, no_memory(compressor, layout));
  outcome.facts.resize(kRanks);
  for (std::uint32_t iteration = 0; iteration < 2; ++iteration) {
    outcome.messages.clear();
    for (std::uint16_t rank = 0; rank < kRanks; ++rank) {
      Floats gradient = gradient_of(group.sizes, 10 * iteration + rank);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        if (rank == 1 && i % 50 == 17) gradient[i] = std::numeric_limits<float>::infinity();
        if (rank == 1 && i % 70 == 3) gradient[i] = std::numeric_limits<float>::quiet_NaN();
        if (rank == 2 && i % 5 != 0) gradient[i] = i % 2 != 0 ? 0.0F : -0.0F;
      }
      outcome.messages.push_back(message_of(compressor, layout, {iteration, rank, kRanks}, gradient,
                                            outcome.memories[rank], &outcome.facts[rank]));
    }
    outcome.mean = mean_of(compressor, layout, {iteration, 0, kRanks}, outcome.messages);
  }
  return outcome;
}

std::vector<std::uint32_t> bits(const Floats& values) {
  std::vector<std::uint32_t> all;
  for (const float value : values) all.push_back(bits_of(value));
  return all;
}

void expect_same(const Outcome& host, const Outcome& cuda) {
  EXPECT_EQ(cuda.messages, host.messages);
  EXPECT_EQ(bits(cuda.mean), bits(host.mean));
  for (std::uint16_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(bits(cuda.memories[rank]), bits(host.memories[rank])) << "rank " << rank;
    EXPECT_EQ(cuda.facts[rank].bytes, host.facts[rank].bytes) << "rank " << rank;
    EXPECT_EQ(cuda.facts[rank].nans, host.facts[rank].nans) << "rank " << rank;
    EXPECT_EQ(cuda.facts[rank].infinities, host.facts[rank].infinities) << "rank " << rank;
  }
}

class SameBits : public CompressorContract {
 protected:
  void expect_in(ThreadOrder order) const {
    const auto cuda = make();
    const auto host = make_host_compressor(cuda->spec());
    for (const Group& group : kGroups) {
      SCOPED_TRACE(testing::Message() << group.sizes.size() << " tensors");
      const Outcome expected = outcome_of(*host, group);
      const simt::OrderGuard guard(order, 5);
      expect_same(expected, outcome_of(*cuda, group));
    }
  }
};

TEST_P(SameBits, InForwardOrder) { expect_in(ThreadOrder::kForward); }
TEST_P(SameBits, InReverseOrder) { expect_in(ThreadOrder::kReverse); }
TEST_P(SameBits, InRandomOrder) { expect_in(ThreadOrder::kRandom); }

/// Values in the device's memory, copied there and back.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : size_(values.size()) {
    cudaMalloc(&data_, std::max<std::size_t>(sizeof(T) * size_, 1));
    cudaMemcpyAsync(data_, values.data(), sizeof(T) * size_, cudaMemcpyHostToDevice);
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  [[nodiscard]] std::span<T> span() const { return {data_, size_}; }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> values(size_);
    cudaMemcpyAsync(values.data(), data_, sizeof(T) * size_, cudaMemcpyDeviceToHost);
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

// As on a GPU, where touching it ends the process: layouts, facts and counts are read by kernels.
TEST_P(SameBits, TheHostTouchesNoMemoryOfTheDevice) {
  const simt::DeviceOnly guard;
  const auto cuda = make();
  const auto host = make_host_compressor(cuda->spec());
  const GroupLayout group(2, kSizes, kVectors);
  const CompressStep step{.iteration = 1, .rank = 0, .ranks = 1};
  const Floats gradient = gradient_of(kSizes, 3);
  Floats memory = no_memory(*host, group);
  MessageFacts facts;
  const Message expected = message_of(*host, group, step, gradient, memory, &facts);
  const Floats expected_mean = mean_of(*host, group, step, {expected});

  const OnDevice<float> gradient_there(gradient);
  const OnDevice<float> memory_there(no_memory(*host, group));
  const OnDevice<std::byte> message_there(Message(cuda->message_bytes(group)));
  const OnDevice<std::byte> scratch_there(Message(cuda->scratch_bytes(group)));
  const OnDevice<MessageFacts> facts_there(std::vector<MessageFacts>(1));
  cuda->compress(group, step, gradient_there.span(), memory_there.span(), message_there.span(),
                 scratch_there.span(), *facts_there.span().data());
  EXPECT_EQ(facts_there.values().front().bytes, facts.bytes);
  Message message = message_there.values();
  message.resize(facts.bytes);
  EXPECT_EQ(message, expected);
  EXPECT_EQ(bits(memory_there.values()), bits(memory));

  const OnDevice<std::uint64_t> bytes_there(
      std::vector<std::uint64_t>(cuda->varies() ? 1 : 0, facts.bytes));
  const OnDevice<float> mean_there(Floats(group.elements()));
  cuda->decompress(group, step, message_there.span(), bytes_there.span(), mean_there.span());
  EXPECT_EQ(bits(mean_there.values()), bits(expected_mean));
}

INSTANTIATE_TEST_SUITE_P(All, SameBits, testing::ValuesIn(cases()), name_of_case);

}  // namespace
}  // namespace mergewise::test
