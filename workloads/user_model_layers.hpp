// SPDX-License-Identifier: Apache-2.0
// Private to workloads: the layers of a user's model file.
#pragma once

#include "bench/config/node.hpp"
#include "workloads/model.hpp"

namespace mergewise::detail {

/// Appends the layers to a model that has its tensors. Every tensor must belong to one layer, and a
/// layer may share only tensors of earlier layers. Throws InputError with file, line and column.
void read_layers(const Node& list, Model& model);

}  // namespace mergewise::detail
