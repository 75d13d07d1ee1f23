// SPDX-License-Identifier: Apache-2.0
// Which layers' backward work each tensor waits for.
#pragma once

#include "workloads/model.hpp"

#include <cstddef>
#include <vector>

namespace mergewise {

/// For each tensor in ready order the layers whose backward work ends with it ready, in backward
/// order: a layer's work belongs to its first ready tensor, that of layers without tensors to the
/// next layer that has some, or to the last tensor where none follows. Each layer appears once.
/// The model has at least one tensor, and each tensor one owner.
[[nodiscard]] std::vector<std::vector<std::size_t>> assign_backward_layers(const Model& model);

}  // namespace mergewise
