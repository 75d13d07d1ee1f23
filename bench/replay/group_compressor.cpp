// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/group_compressor.hpp"

#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"

#include <algorithm>
#include <utility>

namespace mergewise {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::span<std::byte> part_of(Buffer& buffer, std::size_t begin, std::size_t bytes) {
  return {buffer.data() + begin, bytes};
}

}  // namespace

GroupCompressor::GroupCompressor(Device& device, Communicator& communicator,
                                 Compression compression, const std::vector<std::size_t>& offsets)
    : device_(device),
      communicator_(communicator),
      compression_(std::move(compression)),
      offsets_(offsets) {
  MERGEWISE_CHECK(compression_.compressor != nullptr, "there is a compressor");
  MERGEWISE_CHECK(
      compression_.vectors.empty() || compression_.vectors.size() + 1 == offsets_.size(),
      "of each tensor it is known whether it has one dimension");
  const std::size_t floats = compressor().memory_floats() * offsets_.back();
  memory_ = device.allocate(static_cast<Bytes>(floats * sizeof(float)));
}

std::span<float> GroupCompressor::memory() {
  return {reinterpret_cast<float*>(memory_->data()),
          compressor().memory_floats() * offsets_.back()};
}

std::unique_ptr<PlanMessages> GroupCompressor::prepare(const MergePlan& plan) {
  auto result = std::make_unique<PlanMessages>();
  const auto ranks = static_cast<std::size_t>(communicator_.size());
  std::size_t messages = 0;
  std::size_t received = 0;
  std::size_t scratch = 0;
  for (const Group& group : plan.groups) {
    std::vector<std::size_t> elements;
    for (std::size_t tensor = group.begin; tensor < group.end; ++tensor) {
      elements.push_back(offsets_[tensor + 1] - offsets_[tensor]);
    }
    std::vector<bool> vectors;
    if (!compression_.vectors.empty()) {
      const auto first = compression_.vectors.begin();
      vectors.assign(first + static_cast<std::ptrdiff_t>(group.begin),
                     first + static_cast<std::ptrdiff_t>(group.end));
    }
    GroupMessage message{GroupLayout(static_cast<std::uint32_t>(group.begin), elements, vectors),
                         offsets_[group.begin]};
    const bool empty = message.layout.elements() == 0;
    message.bytes = empty ? 0 : compressor().message_bytes(message.layout);
    MERGEWISE_CHECK(message.bytes % static_cast<std::size_t>(compressor().parts()) == 0,
                    "the parts of a message are equal");
    message.message_at = messages;
    message.received_at = received;
    if (compressor().varies()) message.received_bytes.assign(ranks, 0);
    messages += aligned(message.bytes);
    if (!compressor().summed_as()) received += aligned(ranks * message.bytes);
    scratch = std::max<std::size_t>(scratch, compressor().scratch_bytes(message.layout));
    result->groups.push_back(std::move(message));
  }
  grow(messages_, messages);
  grow(received_, received);
  grow(scratch_, scratch);
  return result;
}

// Plans differ by a few bytes a group: some room to spare saves a buffer for each.
void GroupCompressor::grow(std::unique_ptr<Buffer>& buffer, std::size_t bytes) {
  if (buffer && static_cast<std::size_t>(buffer->size()) >= bytes) return;
  buffer.reset();
  buffer = device_.allocate(static_cast<Bytes>(aligned(bytes + bytes / 16)));
}

void GroupCompressor::bind(PlanMessages& plan, const float* gradients, float* means) {
  const std::size_t floats = compressor().memory_floats();
  const auto ranks = static_cast<std::size_t>(communicator_.size());
  for (GroupMessage& group : plan.groups) {
    const std::size_t elements = group.layout.elements();
    group.gradient = {gradients + group.offset, elements};
    group.mean = {means + group.offset, elements};
    group.memory = memory().subspan(group.offset * floats, elements * floats);
    group.message = part_of(*messages_, group.message_at, group.bytes);
    group.scratch = part_of(*scratch_, 0, static_cast<std::size_t>(scratch_->size()));
    group.received = compressor().summed_as()
                         ? group.message
                         : part_of(*received_, group.received_at, ranks * group.bytes);
  }
}

CompressStep GroupCompressor::step_of(std::uint32_t iteration) const {
  return {iteration, static_cast<std::uint16_t>(communicator_.rank()),
          static_cast<std::uint32_t>(communicator_.size())};
}

void GroupCompressor::compress(PlanMessages& plan, std::size_t group, std::uint32_t iteration,
                               Stream& compute) {
  GroupMessage& own = plan.groups[group];
  if (own.layout.elements() == 0) return;
  as_host(compute).enqueue([compressor = compression_.compressor, own = &own, totals = &plan.totals,
                            step = step_of(iteration)] {
    own->arrived = false;
    compressor->compress(own->layout, step, own->gradient, own->memory, own->message, own->scratch,
                         own->facts);
    totals->bytes += own->facts.bytes;
    totals->nans += own->facts.nans;
    totals->infinities += own->facts.infinities;
  });
}

// Part p of all ranks, then part p + 1 of all ranks.
void GroupCompressor::communicate(PlanMessages& plan, std::size_t group, Stream& communication) {
  GroupMessage& own = plan.groups[group];
  if (const auto type = compressor().summed_as()) {
    const std::size_t count = own.bytes / static_cast<std::size_t>(size_of(*type));
    communicator_.all_reduce(own.message.data(), count, *type, communication);
  } else if (compressor().varies()) {
    communicator_.all_gather_counted(own.message.data(), &own.facts.bytes, own.bytes,
                                     own.received.data(), own.received_bytes.data(), communication);
  } else {
    const auto parts = static_cast<std::size_t>(compressor().parts());
    const std::size_t bytes = own.bytes / parts;
    for (std::size_t part = 0; part < parts; ++part) {
      communicator_.all_gather(own.message.data() + part * bytes, bytes,
                               own.received.data() + part * (own.received.size() / parts),
                               communication);
    }
  }
  // Skipped, as all tasks are, where the collective failed.
  as_host(communication).enqueue([own = &own] { own->arrived = true; });
}

void GroupCompressor::decompress(PlanMessages& plan, std::size_t group, std::uint32_t iteration,
                                 Stream& compute) {
  const GroupMessage& own = plan.groups[group];
  if (own.layout.elements() == 0) return;
  as_host(compute).enqueue(
      [compressor = compression_.compressor, own = &own, step = step_of(iteration)] {
        // The communication stream says why; what lies there may be no message at all.
        if (!own->arrived) return;
        compressor->decompress(own->layout, step, own->received, own->received_bytes, own->mean);
      });
}

}  // namespace mergewise
