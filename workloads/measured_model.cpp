// SPDX-License-Identifier: Apache-2.0
#include "workloads/measured_model.hpp"

#include "bench/core/error.hpp"
#include "workloads/model_file.hpp"

#include <fmt/format.h>

#include <numeric>

namespace mergewise {
namespace {

std::int64_t elements_of(const ReadyTensor& tensor, const std::string& where) {
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.shape) {
    if (size < 0 || (size > 0 && elements > detail::kMaxElements / size)) {
      throw InputError(where + ": tensor '" + tensor.name +
                       "' has an impossible shape, expected sizes of 0 or more that make at most "
                       "2^40 elements");
    }
    elements *= size;
  }
  return elements;
}

}  // namespace

UserModel measured_model(const MeasuredIteration& iteration, const std::string& where) {
  if (iteration.tensors.empty()) {
    throw InputError(where + ": the backward pass completes no gradient, expected at least one");
  }
  if (iteration.batch < 1 || iteration.batch > kMaxBatch) {
    throw InputError(
        fmt::format("{}: batch is {}, expected 1 to {}", where, iteration.batch, kMaxBatch));
  }
  const Nanoseconds backward = iteration.tensors.back().ready_ns;
  if (!(backward > 0)) {
    throw InputError(where + ": the backward pass takes no time, expected measured times above 0");
  }
  if (!(iteration.forward_ns > 0)) {
    throw InputError(where + ": the forward pass takes no time, expected a measured time above 0");
  }
  if (backward > detail::kMaxTime || iteration.forward_ns > detail::kMaxTime) {
    throw InputError(where + ": a pass takes longer than 10^15 ns, expected a training's times");
  }
  UserModel made;
  Model& model = made.model;
  Workload& workload = made.workload;
  model.name = workload.name = iteration.name;
  workload.batch = iteration.batch;
  workload.times = TimesKind::kMeasured;
  workload.times_from = iteration.source;
  workload.forward_ns = iteration.forward_ns;
  Bytes total = 0;
  Nanoseconds before = 0;
  for (const ReadyTensor& tensor : iteration.tensors) {
    MERGEWISE_CHECK(tensor.ready_ns >= before, tensor.name + " is ready before its predecessor");
    const Bytes bytes = 4 * elements_of(tensor, where);
    total += bytes;
    if (total > detail::kMaxTotalBytes) {
      throw InputError(where + ": the tensors exceed 2^50 bytes, expected a smaller model");
    }
    const Nanoseconds own = tensor.ready_ns - before;
    model.tensors.push_back({tensor.name, tensor.shape});
    workload.tensors.push_back({tensor.name, tensor.layer, tensor.shape, bytes,
                                iteration.forward_ns * (own / backward), own});
    before = tensor.ready_ns;
  }
  model.ready_order.resize(model.tensors.size());
  std::iota(model.ready_order.begin(), model.ready_order.end(), std::size_t{0});
  return made;
}

}  // namespace mergewise
