// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/replayer.hpp"

#include "bench/core/error.hpp"
#include "bench/replay/gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace mergewise {
namespace {

constexpr Bytes kElementBytes = 4;

std::vector<std::size_t> element_offsets(const std::vector<Bytes>& tensor_bytes) {
  std::vector<std::size_t> offsets{0};
  offsets.reserve(tensor_bytes.size() + 1);
  for (const Bytes bytes : tensor_bytes) {
    MERGEWISE_CHECK(bytes >= 0 && bytes % kElementBytes == 0, "gradients are whole fp32 elements");
    offsets.push_back(offsets.back() + static_cast<std::size_t>(bytes / kElementBytes));
  }
  return offsets;
}

}  // namespace

// The events of one iteration of the span pass.
struct Replayer::SpanEvents {
  struct OfGroup {
    std::unique_ptr<Event> backward_end, ready, begin, end, unpack_begin, unpack_end;
  };
  std::unique_ptr<Event> forward_end;
  std::vector<OfGroup> groups;

  SpanEvents(Device& device, std::size_t group_count)
      : forward_end(device.create_event()), groups(group_count) {
    for (OfGroup& group : groups) {
      for (auto* event : {&group.backward_end, &group.ready, &group.begin, &group.end,
                          &group.unpack_begin, &group.unpack_end}) {
        *event = device.create_event();
      }
    }
  }

  // Without copies nothing is packed or unpacked, and no two events stand around nothing.
  [[nodiscard]] std::vector<GroupStamps> stamps(Buffers buffers) const {
    const bool copied = buffers == Buffers::kCopy;
    std::vector<GroupStamps> result;
    result.reserve(groups.size());
    for (const OfGroup& group : groups) {
      const Stamp ready = (copied ? group.ready : group.backward_end)->stamp();
      const Stamp unpacked = (copied ? group.unpack_end : group.unpack_begin)->stamp();
      result.push_back({group.backward_end->stamp(), ready, group.begin->stamp(),
                        group.end->stamp(), group.unpack_begin->stamp(), unpacked});
    }
    return result;
  }
};

Replayer::Replayer(Device& device, Communicator& communicator, Compute& compute,
                   const std::vector<Bytes>& tensor_bytes, Buffers buffers, GroupHook on_group)
    : device_(device),
      communicator_(communicator),
      compute_(compute),
      buffers_(buffers),
      on_group_(std::move(on_group)),
      offsets_(element_offsets(tensor_bytes)),
      compute_stream_(device.create_stream(StreamRole::kCompute)),
      communication_stream_(device.create_stream(StreamRole::kCommunication)),
      start_(device.create_event()) {
  const Bytes bytes = static_cast<Bytes>(offsets_.back()) * kElementBytes;
  gradient_buffer_ = device.allocate(bytes);
  if (buffers_ == Buffers::kCopy) merge_buffer_ = device.allocate(bytes);
}

Replayer::~Replayer() = default;

float* Replayer::gradients() { return reinterpret_cast<float*>(gradient_buffer_->data()); }

float* Replayer::send_buffer() {
  return buffers_ == Buffers::kCopy ? reinterpret_cast<float*>(merge_buffer_->data()) : gradients();
}

PreparedPlan Replayer::prepare(const MergePlan& plan) const {
  const std::size_t tensors = offsets_.size() - 1;
  check(plan, tensors);
  PreparedPlan prepared{plan.strategy, {}, tensors};
  for (const Group& group : plan.groups) {
    if (group.collective != Collective::kAllReduce ||
        !std::holds_alternative<WhenReady>(group.release)) {
      throw UnsupportedError(fmt::format(
          "strategy '{}' plans something else than all-reduces of ready groups, which cannot be "
          "replayed yet; use `mergewise plan` to see it in the model",
          plan.strategy));
    }
    prepared.groups.push_back({group.begin, group.end, offsets_[group.begin],
                               offsets_[group.end] - offsets_[group.begin], device_.create_event(),
                               device_.create_event()});
  }
  return prepared;
}

PreparedPlan Replayer::prepare_compute_alone() const {
  return {"compute alone", {}, offsets_.size() - 1};
}

void Replayer::copy_tensors(const PreparedPlan::PreparedGroup& group, Buffer& from, Buffer& to) {
  for (std::size_t tensor = group.begin_tensor; tensor < group.end_tensor; ++tensor) {
    const Bytes offset = static_cast<Bytes>(offsets_[tensor]) * kElementBytes;
    const Bytes size = static_cast<Bytes>(offsets_[tensor + 1]) * kElementBytes - offset;
    if (size > 0) device_.copy(*compute_stream_, from.data() + offset, to.data() + offset, size);
  }
}

// Backward work of a group's tensors, then its packing and its collective.
void Replayer::enqueue_group(PreparedPlan::PreparedGroup& group, std::size_t index,
                             SpanEvents* events) {
  Stream& compute = *compute_stream_;
  Stream& communication = *communication_stream_;
  for (std::size_t tensor = group.begin_tensor; tensor < group.end_tensor; ++tensor) {
    compute_.backward(compute, tensor);
  }
  if (events != nullptr) compute.record(*events->groups[index].backward_end);
  if (buffers_ == Buffers::kCopy) {
    copy_tensors(group, *gradient_buffer_, *merge_buffer_);
    compute_.resume(compute);
  }
  if (events != nullptr && buffers_ == Buffers::kCopy) {
    compute.record(*events->groups[index].ready);
  }
  compute.record(*group.ready);

  if (on_group_) on_group_(communication, static_cast<std::int64_t>(index));
  communication.wait(*group.ready);
  if (events != nullptr) communication.record(*events->groups[index].begin);
  communicator_.all_reduce(send_buffer() + group.offset, group.count, communication);
  if (events != nullptr) communication.record(*events->groups[index].end);
  communication.record(*group.done);
}

// What the compute stream does once a group arrived; the optimizer's update will stand here.
void Replayer::enqueue_arrival(PreparedPlan::PreparedGroup& group, std::size_t index,
                               SpanEvents* events) {
  Stream& compute = *compute_stream_;
  compute.wait(*group.done);
  if (events != nullptr) compute.record(*events->groups[index].unpack_begin);
  if (buffers_ == Buffers::kSlice) return;
  copy_tensors(group, *merge_buffer_, *gradient_buffer_);
  if (events != nullptr) compute.record(*events->groups[index].unpack_end);
}

void Replayer::enqueue_iteration(PreparedPlan& plan, SpanEvents* events) {
  Stream& compute = *compute_stream_;
  compute_.resume(compute);
  for (std::size_t step = 0; step < compute_.forward_steps(); ++step) {
    compute_.forward(compute, step);
  }
  if (events != nullptr) compute.record(*events->forward_end);
  if (plan.groups.empty()) {
    for (std::size_t tensor = 0; tensor < plan.tensor_count; ++tensor) {
      compute_.backward(compute, tensor);
    }
  }
  for (std::size_t i = 0; i < plan.groups.size(); ++i) enqueue_group(plan.groups[i], i, events);
  if (on_group_) on_group_(*communication_stream_, -1);
  for (std::size_t i = 0; i < plan.groups.size(); ++i) enqueue_arrival(plan.groups[i], i, events);
}

void Replayer::run(PreparedPlan& plan, int iterations, std::vector<Stamp>& stamps) {
  MERGEWISE_CHECK(iterations >= 1, "a block has at least one iteration");
  const auto count = static_cast<std::size_t>(iterations);
  while (ends_.size() < count) ends_.push_back(device_.create_event());
  compute_stream_->record(*start_);
  for (std::size_t i = 0; i < count; ++i) {
    enqueue_iteration(plan, nullptr);
    compute_stream_->record(*ends_[i]);
  }
  communication_stream_->synchronize();
  compute_stream_->synchronize();
  stamps.clear();
  stamps.push_back(start_->stamp());
  for (std::size_t i = 0; i < count; ++i) stamps.push_back(ends_[i]->stamp());
}

std::vector<IterationStamps> Replayer::run_with_spans(PreparedPlan& plan, int iterations) {
  std::vector<SpanEvents> events;
  std::vector<std::unique_ptr<Event>> ends;
  for (int i = 0; i < iterations; ++i) {
    events.emplace_back(device_, plan.groups.size());
    ends.push_back(device_.create_event());
  }
  compute_stream_->record(*start_);
  for (std::size_t i = 0; i < events.size(); ++i) {
    enqueue_iteration(plan, &events[i]);
    compute_stream_->record(*ends[i]);
  }
  communication_stream_->synchronize();
  compute_stream_->synchronize();
  std::vector<IterationStamps> result;
  Stamp begin = start_->stamp();
  for (std::size_t i = 0; i < events.size(); ++i) {
    result.push_back(
        {begin, events[i].forward_end->stamp(), ends[i]->stamp(), events[i].stamps(buffers_)});
    begin = ends[i]->stamp();
  }
  return result;
}

std::vector<Replayer::LayerTimes> Replayer::run_layers(int iterations) {
  std::vector<std::unique_ptr<Event>> marks(offsets_.size() + 1);
  for (auto& mark : marks) mark = device_.create_event();
  std::vector<LayerTimes> result;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    compute_stream_->record(*marks[0]);
    compute_.resume(*compute_stream_);
    for (std::size_t step = 0; step < compute_.forward_steps(); ++step) {
      compute_.forward(*compute_stream_, step);
    }
    compute_stream_->record(*marks[1]);
    for (std::size_t tensor = 0; tensor + 1 < offsets_.size(); ++tensor) {
      compute_.backward(*compute_stream_, tensor);
      compute_stream_->record(*marks[tensor + 2]);
    }
    compute_stream_->synchronize();
    LayerTimes times;
    times.forward_ns = static_cast<Nanoseconds>(marks[1]->stamp() - marks[0]->stamp());
    for (std::size_t i = 2; i < marks.size(); ++i) {
      times.backward_ns.push_back(
          static_cast<Nanoseconds>(marks[i]->stamp() - marks[i - 1]->stamp()));
    }
    result.push_back(std::move(times));
  }
  return result;
}

void Replayer::zero_gradients() {
  std::fill_n(gradients(), elements(), 0.0F);
  if (merge_buffer_) std::fill_n(reinterpret_cast<float*>(merge_buffer_->data()), elements(), 0.0F);
}

void Replayer::verify(PreparedPlan& plan) {
  const auto tensor_values = [this](std::size_t tensor) {
    return std::span<float>(gradients() + offsets_[tensor],
                            offsets_[tensor + 1] - offsets_[tensor]);
  };
  for (std::size_t tensor = 0; tensor < plan.tensor_count; ++tensor) {
    fill_gradient(tensor_values(tensor), communicator_.rank(), tensor);
  }
  std::vector<Stamp> stamps;
  run(plan, 1, stamps);
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    for (std::size_t tensor = plan.groups[i].begin_tensor; tensor < plan.groups[i].end_tensor;
         ++tensor) {
      const auto mismatch = find_mismatch(tensor_values(tensor), communicator_.size(), tensor);
      if (mismatch) {
        throw VerificationError(fmt::format(
            "strategy '{}' on rank {}: group {}, tensor {} (in ready order), element {} is {} "
            "after the reduction, expected {}: this plan or collective loses gradients",
            plan.strategy, communicator_.rank(), i, tensor, mismatch->element, mismatch->found,
            mismatch->expected));
      }
    }
  }
  zero_gradients();
}

}  // namespace mergewise
