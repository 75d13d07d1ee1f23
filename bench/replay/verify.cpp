// SPDX-License-Identifier: Apache-2.0
// The replayer's check that a plan loses nothing.
#include "bench/core/error.hpp"
#include "bench/replay/compressed_reference.hpp"
#include "bench/replay/gradients.hpp"
#include "bench/replay/replayer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mergewise {

std::span<float> Replayer::of_tensor(float* data, std::size_t tensor) const {
  return {data + offsets_[tensor], offsets_[tensor + 1] - offsets_[tensor]};
}

void Replayer::reset_gradients() {
  const std::span<float> all(gradients(), elements());
  if (merge_buffer_) std::fill_n(send_buffer(), elements(), 0.0F);
  if (compressor_) {
    fill_normal(all, static_cast<std::uint64_t>(communicator_.rank()));
    std::fill_n(results(), elements(), 0.0F);
    std::fill(memory().begin(), memory().end(), 0.0F);
  } else {
    std::fill(all.begin(), all.end(), 0.0F);
  }
}

Nanoseconds Replayer::verify(PreparedPlan& plan) {
  reset_gradients();
  for (std::size_t tensor = 0; tensor < plan.tensor_count; ++tensor) {
    const std::span<float> values = of_tensor(gradients(), tensor);
    if (plan.messages) {
      fill_small_gradient(values, communicator_.rank(), tensor);
    } else {
      fill_gradient(values, communicator_.rank(), tensor);
    }
  }
  const std::uint32_t iteration = iterations_;
  std::vector<Stamp> stamps;
  run(plan, 1, stamps);
  if (plan.messages) {
    check_means(plan, iteration);
    plan.messages->totals = {};
  } else {
    check_sums(plan);
  }
  reset_gradients();
  return static_cast<Nanoseconds>(stamps.back() - stamps.front());
}

void Replayer::check_sums(const PreparedPlan& plan) {
  for (std::size_t i = 0; i < plan.backward_groups; ++i) {
    const Group& group = plan.groups[i].planned;
    for (std::size_t tensor = group.begin; tensor < group.end; ++tensor) {
      const auto mismatch =
          find_mismatch(of_tensor(gradients(), tensor), communicator_.size(), tensor);
      if (mismatch) {
        throw VerificationError(fmt::format(
            "strategy '{}' on rank {}: group {}, tensor {} (in ready order), element {} is {} "
            "after the reduction, expected {}: this plan or collective loses gradients",
            plan.strategy, communicator_.rank(), i, tensor, mismatch->element, mismatch->found,
            mismatch->expected));
      }
    }
  }
}

void Replayer::check_means(const PreparedPlan& plan, std::uint32_t iteration) {
  CompressedReference reference(compressor_->compressor().spec(), iteration, communicator_.rank(),
                                communicator_.size());
  const std::size_t floats = compressor_->compressor().memory_floats();
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    const PreparedPlan::PreparedGroup& group = plan.groups[i];
    std::vector<std::size_t> tensor_elements;
    for (std::size_t tensor = group.planned.begin; tensor < group.planned.end; ++tensor) {
      tensor_elements.push_back(offsets_[tensor + 1] - offsets_[tensor]);
    }
    const auto expected =
        reference.of(plan.messages->groups[i].layout, group.planned.begin, tensor_elements);
    compare(plan, i, "the mean", {results() + group.offset, group.count}, expected.mean,
            expected.tolerance, 1);
    compare(plan, i, "the memory", memory().subspan(group.offset * floats, group.count * floats),
            expected.memory, 0, floats);
  }
}

// Of a group, `floats` values for each element.
void Replayer::compare(const PreparedPlan& plan, std::size_t group, const char* what,
                       std::span<const float> found, std::span<const float> expected,
                       float tolerance, std::size_t floats) {
  const std::size_t place = first_unexpected(found, expected, tolerance);
  if (place == found.size()) return;
  const std::size_t element = plan.groups[group].offset + place / floats;
  const auto behind = std::upper_bound(offsets_.begin(), offsets_.end(), element);
  const auto tensor = static_cast<std::size_t>(behind - offsets_.begin()) - 1;
  throw VerificationError(fmt::format(
      "strategy '{}' on rank {}: group {}, tensor {} (in ready order), element {}: {} is {} after "
      "an iteration with compressor '{}', expected {}: this plan, collective or compressor loses "
      "gradients",
      plan.strategy, communicator_.rank(), group, tensor, element - offsets_[tensor], what,
      found[place], compressor_->compressor().spec().id, expected[place]));
}

}  // namespace mergewise
