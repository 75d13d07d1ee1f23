// SPDX-License-Identifier: Apache-2.0
// Imports measured times that others published as JSON.
#pragma once

#include "workloads/measured_model.hpp"

#include <filesystem>
#include <string>

namespace mergewise {

/// Reads one of two kinds of file, told apart by their keys. Both have a name, batch_size,
/// forward_us (or _ms, _ns), and may have texts in source and device; other keys at the top are
/// passed over.
/// - `layers`: [{parameters, backward_us (or _ms, _ns), name}], in definition order (the key
///   `order`, if there, must say so). An entry is one tensor of shape [parameters]; without a name
///   it is called "layer_1", .. by its place. Ready order is the reverse.
/// - `ready_ms` (or _us, _ns): tensor name -> time from the start of the backward pass until its
///   gradient was complete, never decreasing; every tensor of the built-in network `model` once,
///   whose shapes are used. `backward_ms`, if there, is the whole pass: what remains after the last
///   tensor belongs to it. `input_shape`, if there, begins with the batch size.
///
/// `model` takes the place of the file's, for the second kind only. Throws InputError with file,
/// line and column.
[[nodiscard]] ImportedModel import_timings(const std::filesystem::path& file,
                                           const std::string& model = "");

}  // namespace mergewise
