// SPDX-License-Identifier: Apache-2.0
// What all importers of measured times end with: a user's model from the times at which its
// gradients became ready.
#pragma once

#include "workloads/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mergewise {

/// A gradient of a measured backward pass.
struct ReadyTensor {
  std::string name;
  std::string layer;
  std::vector<std::int64_t> shape;
  Nanoseconds ready_ns = 0;  ///< from the start of the backward pass until it was complete
};

/// A measured iteration.
struct MeasuredIteration {
  std::string name;  ///< of the model
  std::int64_t batch = 1;
  std::string source;  ///< who measured what: Workload::times_from
  Nanoseconds forward_ns = 0;
  std::vector<ReadyTensor> tensors;  ///< in ready order
};

/// What an importer made, and what its user should know about it.
struct ImportedModel {
  UserModel user_model;
  std::vector<std::string> notes;  ///< each a sentence without its full stop
};

/// The same as a user's model: tensors in ready order without layers, times measured; the forward
/// time is divided among the tensors as the backward time is. Names are unique and ready times
/// never decrease, which the importers hold. Throws InputError "WHERE: ..." where nothing was
/// measured (no tensors, no forward or no backward time) or where it exceeds what a model file may
/// hold: a batch of 2^20, 2^50 bytes, 10^15 ns a pass.
[[nodiscard]] UserModel measured_model(const MeasuredIteration& iteration,
                                       const std::string& where);

}  // namespace mergewise
