// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/replayer.hpp"

#include "bench/core/error.hpp"
#include "bench/replay/gradients.hpp"
#include "bench/replay/replayable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
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

void enqueue(Collective collective, Communicator& communicator, float* data, std::size_t count,
             Stream& stream) {
  switch (collective) {
    case Collective::kAllReduce:
      return communicator.all_reduce(data, count, stream);
    case Collective::kReduceScatter:
      return communicator.reduce_scatter(data, count, stream);
    case Collective::kAllGather:
      return communicator.all_gather(data, count, stream);
  }
}

Replayer::Replayer(Device& device, Communicator& communicator, Compute& compute,
                   const std::vector<Bytes>& tensor_bytes, Buffers buffers, GroupHook on_group,
                   Iteration iteration, Compression compression)
    : device_(device),
      communicator_(communicator),
      compute_(compute),
      buffers_(buffers),
      on_group_(std::move(on_group)),
      iteration_(std::move(iteration)),
      offsets_(element_offsets(tensor_bytes)),
      start_(device.create_event()),
      compute_stream_(device.create_stream(StreamRole::kCompute)),
      communication_stream_(device.create_stream(StreamRole::kCommunication)) {
  MERGEWISE_CHECK(iteration_.accumulation >= 1, "an iteration has at least one micro-batch");
  MERGEWISE_CHECK(
      iteration_.forward_step.empty() || iteration_.forward_step.size() == tensor_bytes.size(),
      "each tensor is used by a forward step");
  for (const std::size_t step : iteration_.forward_step) {
    MERGEWISE_CHECK(step < compute.forward_steps(), "a tensor is used by a step that is not there");
  }
  const Bytes bytes = static_cast<Bytes>(offsets_.back()) * kElementBytes;
  gradient_buffer_ = device.allocate(bytes);
  if (buffers_ == Buffers::kCopy) merge_buffer_ = device.allocate(bytes);
  if (compression.compressor == nullptr) return;
  mean_buffer_ = device.allocate(bytes);
  compressor_ =
      std::make_unique<GroupCompressor>(device, communicator, std::move(compression), offsets_);
  reset_gradients();
}

Replayer::~Replayer() = default;

float* Replayer::gradients() { return reinterpret_cast<float*>(gradient_buffer_->data()); }

float* Replayer::send_buffer() {
  return buffers_ == Buffers::kCopy ? reinterpret_cast<float*>(merge_buffer_->data()) : gradients();
}

float* Replayer::results() {
  return mean_buffer_ ? reinterpret_cast<float*>(mean_buffer_->data()) : gradients();
}

std::span<float> Replayer::memory() {
  return compressor_ ? compressor_->memory() : std::span<float>();
}

PreparedPlan Replayer::prepare(const MergePlan& plan) const {
  const std::size_t tensors = offsets_.size() - 1;
  check(plan, tensors);
  check_replayable(plan, compressor_ ? &compressor_->compressor() : nullptr);
  PreparedPlan prepared{plan.strategy, {}, backward_groups_of(plan), false, tensors};
  for (const Group& group : plan.groups) {
    if (std::holds_alternative<NotBefore>(group.release)) prepared.holds = true;
    prepared.groups.push_back({group, offsets_[group.begin],
                               offsets_[group.end] - offsets_[group.begin], forward_step_of(group),
                               device_.create_event(), device_.create_event(),
                               device_.create_event()});
  }
  // Gathers arrive in the plan's order: a step that needs one needs those before it.
  for (std::size_t i = plan.groups.size(); i-- > prepared.backward_groups + 1;) {
    auto& before = prepared.groups[i - 1].forward_step;
    before = std::min(before, prepared.groups[i].forward_step);
  }
  if (compressor_) prepared.messages = compressor_->prepare(plan);
  return prepared;
}

// The first that uses any of its tensors.
std::size_t Replayer::forward_step_of(const Group& group) const {
  if (iteration_.forward_step.empty()) return 0;
  const auto begin = iteration_.forward_step.begin();
  return *std::min_element(begin + static_cast<std::ptrdiff_t>(group.begin),
                           begin + static_cast<std::ptrdiff_t>(group.end));
}

PreparedPlan Replayer::prepare_compute_alone() const {
  return {"compute alone", {}, 0, false, offsets_.size() - 1};
}

void Replayer::copy_tensors(const PreparedPlan::PreparedGroup& group, Buffer& from, Buffer& to) {
  for (std::size_t tensor = group.planned.begin; tensor < group.planned.end; ++tensor) {
    const Bytes offset = static_cast<Bytes>(offsets_[tensor]) * kElementBytes;
    const Bytes size = static_cast<Bytes>(offsets_[tensor + 1]) * kElementBytes - offset;
    if (size > 0) device_.copy(*compute_stream_, from.data() + offset, to.data() + offset, size);
  }
}

void Replayer::open(const Pass& pass, Lane lane) {
  if (pass.spans == nullptr) return;
  pass.spans->open(lane, lane == Lane::kCompute ? *compute_stream_ : *communication_stream_);
}

void Replayer::close(const Pass& pass, Activity activity, std::size_t index) {
  if (pass.spans == nullptr) return;
  if (activity == Activity::kTransfer) {
    pass.spans->close(Lane::kCommunication, *communication_stream_, activity, index);
  } else {
    pass.spans->close(Lane::kCompute, *compute_stream_, activity, index);
  }
}

void Replayer::enqueue_forward(const Pass& pass) {
  compute_.forward(*compute_stream_, 0, compute_.forward_steps());
  close(pass, Activity::kForward, 0);
}

// Of a micro-batch that communicates nothing.
void Replayer::enqueue_backward(const Pass& pass) {
  for (std::size_t tensor = 0; tensor < pass.plan.tensor_count; ++tensor) {
    compute_.backward(*compute_stream_, tensor);
  }
  close(pass, Activity::kBackward, 0);
}

// Backward work of each group's tensors, then its packing and compression, and its collective.
void Replayer::enqueue_communicating_backward(const Pass& pass) {
  Stream& compute = *compute_stream_;
  if (pass.plan.holds) compute.record(pass.backward_start);
  if (pass.plan.groups.empty()) enqueue_backward(pass);
  for (std::size_t i = 0; i < pass.plan.backward_groups; ++i) {
    PreparedPlan::PreparedGroup& group = pass.plan.groups[i];
    for (std::size_t tensor = group.planned.begin; tensor < group.planned.end; ++tensor) {
      compute_.backward(compute, tensor);
    }
    close(pass, Activity::kBackward, i);
    if (buffers_ == Buffers::kCopy) copy_tensors(group, *gradient_buffer_, *merge_buffer_);
    if (compressor_) compressor_->compress(*pass.plan.messages, i, iterations_, compute);
    if (buffers_ == Buffers::kCopy || compressor_) {
      compute_.resume(compute);
      close(pass, Activity::kPack, i);
    }
    compute.record(*group.ready);
    enqueue_collective(pass, i);
  }
}

// A group's `ready` is never recorded where it is sent until the next forward pass: the
// communication stream is in order, so the phase before has ended.
void Replayer::enqueue_collective(const Pass& pass, std::size_t index) {
  PreparedPlan::PreparedGroup& group = pass.plan.groups[index];
  Stream& communication = *communication_stream_;
  if (on_group_) on_group_(communication, static_cast<std::int64_t>(index));
  communication.wait(*group.ready);
  if (const auto* not_before = std::get_if<NotBefore>(&group.planned.release)) {
    device_.hold(communication, pass.backward_start, not_before->after_backward_start);
  } else if (const auto* before_forward = std::get_if<BeforeForward>(&group.planned.release)) {
    if (before_forward->issued_with) {
      communication.wait(*pass.plan.groups[*before_forward->issued_with].worked);
    }
  }
  open(pass, Lane::kCommunication);
  if (compressor_) {
    compressor_->communicate(*pass.plan.messages, index, communication);
  } else {
    enqueue(group.planned.collective, communicator_, send_buffer() + group.offset, group.count,
            communication);
  }
  close(pass, Activity::kTransfer, index);
  communication.record(*group.done);
}

// What the compute stream does once a group arrived; the optimizer's update will stand here.
void Replayer::enqueue_arrival(const Pass& pass, std::size_t index) {
  PreparedPlan::PreparedGroup& group = pass.plan.groups[index];
  compute_stream_->wait(*group.done);
  if (buffers_ == Buffers::kSlice && !compressor_) return;
  open(pass, Lane::kCompute);
  if (compressor_) {
    compressor_->decompress(*pass.plan.messages, index, iterations_, *compute_stream_);
  }
  if (buffers_ == Buffers::kCopy) {
    copy_tensors(group, *merge_buffer_, compressor_ ? *mean_buffer_ : *gradient_buffer_);
  }
  close(pass, Activity::kUnpack, index);
}

// Each step waits for the groups that carry its tensors.
void Replayer::enqueue_waiting_forward(const Pass& pass) {
  auto& groups = pass.plan.groups;
  const std::size_t steps = compute_.forward_steps();
  std::size_t next = pass.plan.backward_groups;  // group to be waited for
  for (std::size_t step = 0; step < steps || next < groups.size();) {
    for (; next < groups.size() && groups[next].forward_step <= step; ++next) {
      enqueue_collective(pass, next);
      enqueue_arrival(pass, next);
      compute_stream_->record(*groups[next].worked);
    }
    compute_.resume(*compute_stream_);
    open(pass, Lane::kCompute);
    const std::size_t end = next < groups.size() ? groups[next].forward_step : steps;
    compute_.forward(*compute_stream_, step, end);
    close(pass, Activity::kForward, next == pass.plan.backward_groups ? 0 : next - 1);
    step = end;
  }
}

// From one forward pass to the next, or from one backward pass to the next, as the plan wants it.
void Replayer::enqueue_iteration(const Pass& pass) {
  const bool reaches_forward = pass.plan.reaches_forward();
  compute_.resume(*compute_stream_);
  open(pass, Lane::kCompute);
  for (int batch = 1; batch < iteration_.accumulation; ++batch) {
    if (reaches_forward) enqueue_backward(pass);
    enqueue_forward(pass);
    if (!reaches_forward) enqueue_backward(pass);
  }
  if (!reaches_forward) enqueue_forward(pass);
  enqueue_communicating_backward(pass);
  if (reaches_forward) {
    enqueue_waiting_forward(pass);
  } else {
    for (std::size_t i = 0; i < pass.plan.groups.size(); ++i) enqueue_arrival(pass, i);
  }
  if (on_group_) on_group_(*communication_stream_, -1);
  if (pass.plan.messages) ++iterations_;
}

void Replayer::begin_block(PreparedPlan& plan, int iterations) {
  MERGEWISE_CHECK(iterations >= 1, "a block has at least one iteration");
  for (auto* events : {&ends_, &backward_starts_}) {
    while (events->size() < static_cast<std::size_t>(iterations)) {
      events->push_back(device_.create_event());
    }
  }
  if (plan.messages) {
    const bool copies = buffers_ == Buffers::kCopy;
    compressor_->bind(*plan.messages, send_buffer(), copies ? send_buffer() : results());
    plan.messages->totals.iterations += iterations;
  }
  if (plan.reaches_forward()) {
    compute_.resume(*compute_stream_);
    compute_.forward(*compute_stream_, 0, compute_.forward_steps());
  }
  compute_stream_->record(*start_);
}

// Both are idle after this, also when it throws: the communication's failure first, the cause.
void Replayer::synchronize() {
  std::exception_ptr failure;
  for (Stream* stream : {communication_stream_.get(), compute_stream_.get()}) {
    try {
      stream->synchronize();
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void Replayer::run(PreparedPlan& plan, int iterations, std::vector<Stamp>& stamps) {
  begin_block(plan, iterations);
  const auto count = static_cast<std::size_t>(iterations);
  for (std::size_t i = 0; i < count; ++i) {
    enqueue_iteration({plan, *backward_starts_[i], nullptr});
    compute_stream_->record(*ends_[i]);
  }
  synchronize();
  stamps.clear();
  stamps.push_back(start_->stamp());
  for (std::size_t i = 0; i < count; ++i) stamps.push_back(ends_[i]->stamp());
}

std::vector<IterationStamps> Replayer::run_with_spans(PreparedPlan& plan, int iterations) {
  begin_block(plan, iterations);
  std::vector<SpanRecorder> spans;
  for (int i = 0; i < iterations; ++i) spans.emplace_back(device_);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    enqueue_iteration({plan, *backward_starts_[i], &spans[i]});
    compute_stream_->record(*ends_[i]);
  }
  synchronize();
  std::vector<IterationStamps> result;
  Stamp begin = start_->stamp();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Stamp end = ends_[i]->stamp();
    result.push_back({begin, end, spans[i].spans()});
    begin = end;
  }
  return result;
}

std::vector<Replayer::LayerTimes> Replayer::run_layers(int iterations) {
  const std::size_t steps = compute_.forward_steps();
  const std::size_t tensors = offsets_.size() - 1;
  std::vector<std::unique_ptr<Event>> marks(1 + steps + tensors);
  for (auto& mark : marks) mark = device_.create_event();
  const auto between = [&](std::size_t from, std::size_t to) {
    return static_cast<Nanoseconds>(marks[to]->stamp() - marks[from]->stamp());
  };
  std::vector<LayerTimes> result;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    compute_stream_->record(*marks[0]);
    compute_.resume(*compute_stream_);
    for (std::size_t step = 0; step < steps; ++step) {
      compute_.forward(*compute_stream_, step);
      compute_stream_->record(*marks[1 + step]);
    }
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
      compute_.backward(*compute_stream_, tensor);
      compute_stream_->record(*marks[1 + steps + tensor]);
    }
    compute_stream_->synchronize();
    LayerTimes times{between(0, steps), {}, {}};
    for (std::size_t i = 0; i < steps; ++i) times.forward_steps_ns.push_back(between(i, i + 1));
    for (std::size_t i = steps; i < steps + tensors; ++i) {
      times.backward_ns.push_back(between(i, i + 1));
    }
    result.push_back(std::move(times));
  }
  return result;
}

}  // namespace mergewise
