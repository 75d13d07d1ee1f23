// SPDX-License-Identifier: Apache-2.0
// The host's compressors on every instruction set of this machine and for teams of 1 to 3, against
// an element at a time.
#include "kernels/compress/host_compressor.hpp"

#include "kernels/compress/algorithm_compressor.hpp"
#include "kernels/primitives/half.hpp"
#include "tests/contract/compressors/cases.hpp"
#include "tests/unit/device/allocation_counter.hpp"
#include "tests/unit/kernels/scalar_primitives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace mergewise::test {
namespace {

class ScalarBackend {
 public:
  template <typename Algorithm>
  void compress(Algorithm, const CompressArguments& arguments, const GroupLayout&,
                const MessageFacts& facts) {
    *arguments.facts = facts;
    Algorithm::compress(ScalarPrimitives(), arguments);
  }
  template <typename Algorithm>
  void decompress(Algorithm, const DecompressArguments& arguments, const GroupLayout&) const {
    Algorithm::decompress(ScalarPrimitives(), arguments);
  }
};

CompressorSpec spec_of(const Case& one) {
  Given given = one.given;
  if (is_sparse(one.id)) given["density"] = 0.07;
  return compressor_spec(one.id, Options(given), 11);
}

std::vector<std::uint32_t> bits_of_all(const Floats& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(bits_of(value));
  return bits;
}

// All that a compressor gives, in bits.
struct Outcome {
  std::vector<Message> messages;
  std::vector<std::uint32_t> memories;
  std::vector<std::uint32_t> means;
  std::vector<std::uint64_t> facts;
  bool operator==(const Outcome&) const = default;
};

// Gradients with zeros of both signs and tiny numbers, in the second iteration special ones too.
Floats gradient_with_traps(const std::vector<std::size_t>& sizes, std::uint64_t seed,
                           bool special) {
  Floats values = gradient_of(sizes, seed);
  const float inf = std::numeric_limits<float>::infinity();
  SplitMix64 random(seed);
  const auto put = [&](float value) { values[random.next() % values.size()] = value; };
  for (std::size_t i = 0; i < values.size() / 50; ++i) {
    put(0.0F);
    put(-0.0F);
    put(1e-41F);
    put(-3e-8F);
  }
  if (special) {
    for (const float value : {inf, -inf, float_of(0x7FC12345), float_of(0xFF812345)}) put(value);
  }
  return values;
}

Outcome outcome_of(Compressor& compressor, const std::vector<std::size_t>& sizes,
                   std::uint16_t ranks) {
  const GroupLayout group(2, sizes, std::vector<bool>(kVectors));
  Outcome outcome;
  std::vector<Floats> memories(ranks, no_memory(compressor, group));
  for (std::uint32_t iteration = 0; iteration < 3; ++iteration) {
    std::vector<Message> messages;
    for (std::uint16_t rank = 0; rank < ranks; ++rank) {
      MessageFacts facts;
      const Floats gradient = gradient_with_traps(sizes, 10 * iteration + rank, iteration == 1);
      messages.push_back(message_of(compressor, group, {iteration, rank, ranks}, gradient,
                                    memories[rank], &facts));
      outcome.facts.insert(outcome.facts.end(), {facts.bytes, facts.nans, facts.infinities});
    }
    const auto means = bits_of_all(mean_of(compressor, group, {iteration, 0, ranks}, messages));
    outcome.means.insert(outcome.means.end(), means.begin(), means.end());
    outcome.messages.insert(outcome.messages.end(), messages.begin(), messages.end());
  }
  for (const Floats& memory : memories) {
    const auto bits = bits_of_all(memory);
    outcome.memories.insert(outcome.memories.end(), bits.begin(), bits.end());
  }
  return outcome;
}

class HostCompressors : public testing::TestWithParam<Case> {};

void expect_equal(const Case& one, HostRun run, const std::vector<std::size_t>& sizes,
                  std::uint16_t ranks, const Outcome& expected) {
  const auto compressor = make_host_compressor(spec_of(one), run);
  const Outcome got = outcome_of(*compressor, sizes, ranks);
  SCOPED_TRACE(testing::Message() << isa_name(run.isa) << ", " << ranks << " ranks, "
                                  << (run.team != nullptr ? run.team->size() : 0) << " threads");
  EXPECT_TRUE(got.messages == expected.messages);
  EXPECT_TRUE(got.memories == expected.memories);
  EXPECT_TRUE(got.means == expected.means);
  EXPECT_EQ(got.facts, expected.facts);
}

// An even number of ranks ties votes; the mean of a power of two may be multiplied.
TEST_P(HostCompressors, GiveTheSameBitsOnEveryInstructionSet) {
  constexpr std::uint16_t kRanks[] = {2, 3, 4, 8};
  for (const std::uint16_t ranks : kRanks) {
    const auto scalar = make_compressor(spec_of(GetParam()), ScalarBackend{});
    const Outcome expected = outcome_of(*scalar, kSizes, ranks);
    for (const Isa isa : available_isas()) {
      expect_equal(GetParam(), {isa, nullptr}, kSizes, ranks, expected);
    }
  }
}

// Large enough for threads; no tensor begins with a byte, so that threads meet within one.
TEST_P(HostCompressors, GiveTheSameBitsForEveryTeam) {
  const std::vector<std::size_t> sizes{5, 17000, 1, 9001, 4099, 13, 8003};
  const auto scalar = make_compressor(spec_of(GetParam()), ScalarBackend{});
  const Outcome expected = outcome_of(*scalar, sizes, 3);
  for (const int threads : {1, 2, 3}) {
    Team team(threads);
    for (const Isa isa : available_isas()) {
      expect_equal(GetParam(), {isa, &team}, sizes, 3, expected);
    }
  }
}

TEST_P(HostCompressors, AllocateNothingOnceTheyAreWarm) {
  const std::vector<std::size_t> sizes{5, 30000, 1, 9001};
  const GroupLayout group(0, sizes);
  Team team(2);
  const auto compressor = make_host_compressor(spec_of(GetParam()), {best_isa(), &team});
  const Floats gradient = gradient_of(sizes, 1);
  Floats memory = no_memory(*compressor, group);
  Message message(compressor->message_bytes(group));
  std::vector<double> scratch(compressor->scratch_bytes(group) / sizeof(double) + 1);
  Floats mean(group.elements());
  const auto run = [&](std::uint32_t iteration) {
    const CompressStep step{iteration, 0, 1};
    MessageFacts facts;
    compressor->compress(group, step, gradient, memory, message,
                         std::as_writable_bytes(std::span(scratch)), facts);
    const std::array<std::uint64_t, 1> bytes{facts.bytes};
    compressor->decompress(group, step, message,
                           std::span(bytes).first(compressor->varies() ? 1 : 0), mean);
  };
  run(0);
  const std::int64_t before = allocation_count();
  run(1);
  run(2);
  EXPECT_EQ(allocation_count(), before);
}

INSTANTIATE_TEST_SUITE_P(All, HostCompressors, testing::ValuesIn(cases()), name_of_case);

// Numbers around every border of half precision, and some of all exponents.
Floats floats_of_all_exponents() {
  Floats values;
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (const std::uint32_t mantissa :
         {0U, 1U, 0xFFFU, 0x1000U, 0x1001U, 0x2FFFU, 0x3000U, 0x7FFFU, 0x8000U, 0x8001U, 0x18000U,
          0x2AAAAAU, 0x3FFFFFU, 0x400000U, 0x400001U, 0x7FE000U, 0x7FEFFFU, 0x7FF000U, 0x7FFFFFU}) {
      values.push_back(float_of(exponent << 23 | mantissa));
      values.push_back(float_of(0x80000000U | exponent << 23 | mantissa));
    }
  }
  return values;
}

template <typename Format>
void expect_conversions_of(const char* id) {
  const Floats floats = floats_of_all_exponents();
  const GroupLayout group(0, {floats.size()});
  Message halves(std::size_t{2} * 65536);
  for (std::uint32_t half = 0; half < 65536; ++half) {
    store(halves.data(), half, static_cast<std::uint16_t>(half));
  }
  for (const Isa isa : available_isas()) {
    const auto compressor = make_host_compressor(compressor_spec(id, {}, 0), {isa, nullptr});
    Floats none;
    const Message message = message_of(*compressor, group, {0, 0, 1}, floats, none);
    for (std::size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(load<std::uint16_t>(message.data(), i),
                Format::from_bits(bits_of(floats[i] / 1.0F)))
          << isa_name(isa) << ", " << std::hex << bits_of(floats[i]);
    }
    Floats means(65536);
    compressor->decompress(GroupLayout(0, {65536}), {0, 0, 1}, halves, {}, means);
    for (std::uint32_t half = 0; half < 65536; ++half) {
      ASSERT_EQ(bits_of(means[half]), Format::to_bits(static_cast<std::uint16_t>(half)))
          << isa_name(isa) << ", " << std::hex << half;
    }
  }
}

TEST(HostHalves, AreThoseOfIntegerArithmetic) {
  expect_conversions_of<Fp16>("fp16");
  expect_conversions_of<Bf16>("bf16");
}

}  // namespace
}  // namespace mergewise::test
