// SPDX-License-Identifier: Apache-2.0
// Private to workloads: names for the parameters of a trace, which has none.
#pragma once

#include "workloads/torch_trace_passes.hpp"

#include <string>
#include <vector>

namespace mergewise::detail {

struct ParameterName {
  std::string name;   ///< "conv_4.weight"
  std::string layer;  ///< "conv_4"
};

/// For pass.gradients: after the module that was called, else after the autograd function that made
/// the gradient, counted in forward order.
[[nodiscard]] std::vector<ParameterName> parameter_names(const TraceEvents& events,
                                                         const TracePass& pass);

}  // namespace mergewise::detail
