// SPDX-License-Identifier: Apache-2.0
// A network as text: what `mergewise describe` prints.
#pragma once

#include "workloads/workload.hpp"

#include <string>

namespace mergewise {

/// For people: a line for each layer and tensor, then totals. A user's model without layers shows
/// its tensors with their times.
[[nodiscard]] std::string describe_table(const UserModel& user_model);

/// For programs: {name, input_shape, batch, times, times_from, forward_ns, backward_ns,
/// total_parameters, total_macs, total_activation_bytes, tensors (definition order), ready_order,
/// layers (forward order)}. Shapes, MACs and bytes are those of one sample, times those of the
/// batch.
[[nodiscard]] std::string describe_json(const UserModel& user_model);

}  // namespace mergewise
