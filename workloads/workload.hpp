// SPDX-License-Identifier: Apache-2.0
// A workload: a network with a batch size and layer times, ready to be planned and replayed.
#pragma once

#include "bench/core/units.hpp"
#include "workloads/layer_work.hpp"
#include "workloads/model.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace mergewise {

/// A training on a single device that somebody published.
struct PublishedThroughput {
  std::string model;
  double samples_per_s = 0;  ///< whole iterations: forward, backward and the optimizer's update
  ModelArguments arguments;  ///< the input it had, where that is not the model's default
  std::int64_t batch = 32;
  std::string without{};      ///< layers whose names begin so took no part; "" where all did
  bool compare_only = false;  ///< of a kindred device: no layer times are scaled to it
  double update_passes = 0;   ///< how often the update moved an array of the parameters' size
  std::string source{};       ///< where, with which software, when
};

/// What a kind of layer achieves of the device's peaks. Above 1 only where a library computes the
/// same result with fewer multiplications than are counted here (Winograd).
struct AchievedFractions {
  double flops = 1;
  double bandwidth = 1;
};
/// The kinds that may achieve something of their own: layer_kind_names() and "conv_square", the
/// convolutions with a 3x3 or 5x5 window and stride 1, "conv" being the others.
[[nodiscard]] const std::vector<std::string>& achieved_kind_names();

/// A device as its data sheet and published trainings describe it; configs/accelerators/*.yaml.
struct Accelerator {
  std::string name;  ///< "v100"
  std::string description;
  std::string arithmetic;  ///< of the products: "fp32", "tf32"; all tensors are fp32
  double peak_flops = 0;   ///< FLOP/s of the stated arithmetic
  double memory_bytes_per_s = 0;
  double flops_fraction = 0;      ///< achieved part of the peak for products, 0..1 ...
  double bandwidth_fraction = 0;  ///< ... and of the memory bandwidth, where `achieved` has none
  Nanoseconds layer_overhead_ns = 0;  ///< added to each pass of a layer: its kernels' launches
  std::vector<PublishedThroughput> throughput;          ///< layer times are scaled to meet one
  std::map<std::string, AchievedFractions> achieved{};  ///< by achieved_kind_names()
};
/// Loads `id` from the accelerator folder, or a path ending in .yaml. Throws InputError with file,
/// line and column, or with the ids that exist.
[[nodiscard]] Accelerator load_accelerator(const std::string& id,
                                           const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> accelerator_ids(const std::filesystem::path& folder);

/// A gradient tensor of a workload; fp32.
struct WorkloadTensor {
  std::string name;
  std::string layer;
  std::vector<std::int64_t> shape;
  Bytes bytes = 0;
  Nanoseconds forward_ns = 0;   ///< forward work of the layers whose backward work it carries
  Nanoseconds backward_ns = 0;  ///< backward work that ends with this tensor ready
};

/// Where layer times come from.
enum class TimesKind {
  kModelled,  ///< a roofline of the shapes
  kMeasured,  ///< a trace of a real training, or our own replay
  kGiven      ///< a user's file that does not say
};
[[nodiscard]] const char* name_of(TimesKind kind);  ///< "modelled", "measured", "given"

struct Workload {
  std::string name;  ///< "resnet50"
  std::int64_t batch = 1;
  TimesKind times = TimesKind::kGiven;
  std::string
      times_from;  ///< "roofline v100 (fp32), scaled to 253.1 samples/s", "file ...": for reports
  Nanoseconds forward_ns = 0;           ///< F, of the whole forward pass
  std::vector<WorkloadTensor> tensors;  ///< in ready order, at least one
  /// Real work, where a network's shapes are known (empty for a user's list of times): all layers,
  /// forward order ...
  std::vector<LayerWork> layers;
  /// ... and for each tensor, in ready order, the layers whose backward work ends with it ready, in
  /// backward order.
  std::vector<std::vector<std::size_t>> backward_layers;
  [[nodiscard]] Nanoseconds backward_ns() const;  ///< of the whole backward pass
};

/// Layer times by a roofline: time = overhead + max(flops / achieved flops, bytes / achieved
/// bandwidth), each as its kind of layer achieves, all multiplied by one factor where a training of
/// this model was published on the accelerator: the one that makes forward + backward + update =
/// batch / throughput for that training's own input, batch and layers (its `without` took no part).
/// Another input or batch, and the layers left out, get the same factor, and times_from says what
/// differs. Of several trainings the one with this model's input counts, then the one of the
/// nearest batch (by ratio), then the first. A layer's backward time belongs to its first ready
/// tensor, its other tensors have 0; a layer without tensors adds to the next tensor that becomes
/// ready, or to the last where none follows. The tensors' forward_ns add up to forward_ns. Throws
/// InputError for a batch below 1 or above 2^20.
[[nodiscard]] Workload make_workload(const Model& model, std::int64_t batch,
                                     const Accelerator& accelerator);

/// Samples/s that the roofline gives, unscaled, for a training that was published: with its input,
/// its batch, its layers and its update.
[[nodiscard]] double modelled_throughput(const PublishedThroughput& published,
                                         const Accelerator& accelerator);

/// A network from a file. Where the file has no layers, `model` has none either, and its tensors
/// are in ready order.
struct UserModel {
  Model model;
  Workload workload;
};

/// A user's own model: YAML (or JSON) with the keys
///   schema: mergewise/model/1, name, batch (1), times (measured | modelled), source (a text: who
///   measured what), forward_ns | forward_us | forward_ms,
///   tensors, in ready order: [{name, shape | bytes, backward_ns | _us | _ms, forward_ns | ..,
///     layer}]; without `layer` the name up to its last dot. Without forward times of the tensors,
///     which all or none must have, the whole is divided among them as the backward time is.
///   input_shape and layers (both or neither; one sample), in forward order: [{name, kind, tensors,
///     shared, output, inputs, activations, products: [{m, n, k, count, batch_in_count}], first,
///     macs, parameter_bytes, activation_bytes}]: the fields of Layer, for real work. The last
///     three are refused where they are not what the others make.
/// Throws InputError with file, line, column.
[[nodiscard]] UserModel load_user_model(const std::filesystem::path& file);

/// The YAML that load_user_model() reads back into the same model and times.
[[nodiscard]] std::string user_model_yaml(const UserModel& user_model);

}  // namespace mergewise
