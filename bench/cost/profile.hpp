// SPDX-License-Identifier: Apache-2.0
// The profile: layer times and cost models, everything a merge plan is made from. One file format
// (mergewise/profile/1).
#pragma once

#include "bench/config/node.hpp"
#include "bench/core/compressor_spec.hpp"
#include "bench/core/dtype.hpp"
#include "bench/core/options.hpp"
#include "bench/core/units.hpp"
#include "bench/cost/cost_model.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

inline constexpr const char* kProfileSchema = "mergewise/profile/1";
inline constexpr std::size_t kMostTensors = 5'000'000;
inline constexpr Bytes kMostBytes = Bytes{1} << 53;  ///< of all tensors: exact in a double

/// One gradient tensor; the profile lists them in ready order.
struct ProfileTensor {
  std::string name;
  Bytes bytes = 0;              ///< of the gradient in grad_dtype; may be 0
  Nanoseconds backward_ns = 0;  ///< backward work that ends with this tensor ready
  std::optional<Nanoseconds> forward_ns;
  std::string layer;                ///< "" when unknown
  std::vector<std::int64_t> shape;  ///< [] when unknown
  friend bool operator==(const ProfileTensor&, const ProfileTensor&) = default;
};

/// The cost of a collective under each of the conditions it was measured in. Plans use
/// `beside_compute` where there is one, else `back_to_back`, else `isolated`; a profile that gives
/// one plain model puts it in `isolated` unless it says "variant".
struct CollectiveCost {
  std::optional<CostModel> isolated;
  std::optional<CostModel> back_to_back;
  std::optional<CostModel> beside_compute;
  /// The model plans use, and its name ("beside_compute", ...). At least one must be there
  /// (std::logic_error else).
  [[nodiscard]] const CostModel& planning() const;
  [[nodiscard]] const char* planning_variant() const;
  friend bool operator==(const CollectiveCost&, const CollectiveCost&) = default;
};

/// Compression and decompression of a group, as functions of its dense bytes.
struct CompressorCost {
  CostModel compress;
  CostModel decompress;
  friend bool operator==(const CompressorCost&, const CompressorCost&) = default;
};

struct Profile {
  std::string name;
  Nanoseconds forward_ns = 0;
  std::vector<ProfileTensor> tensors;        ///< in ready order, at least one
  std::optional<CollectiveCost> all_reduce;  ///< of the bytes of the group
  std::optional<CollectiveCost> all_gather;  ///< of the bytes that one rank contributes
  std::optional<CollectiveCost> reduce_scatter;
  std::map<std::string, CompressorCost> compressors;
  std::string compressor = "none";
  double density = 0.001;      ///< of a compressor that has one
  Options compressor_options;  ///< its others, as given: those of compressor_options(compressor)
  std::optional<int> ranks;
  DType grad_dtype = DType::kFloat32;
  int accumulation = 1;  ///< micro-batches an iteration, all but the last without communication
  Options options;       ///< for the strategy; those it does not know are noted and ignored
  CostModel pack;        ///< p(M), of the group's dense bytes
  CostModel unpack;      ///< q(M)
  CostModel update;      ///< u(M)
  std::vector<std::string> notes;  ///< what the loader ignored; not saved, not compared
  friend bool operator==(const Profile& a, const Profile& b);
};

/// The profile's compressor with its density and options. Draws are seeded by `run_seed` where the
/// options give no seed. Throws InputError as compressor_spec().
[[nodiscard]] CompressorSpec compressor_of(const Profile& profile, std::uint64_t run_seed = 0);
/// Makes it the profile's; costs stay as they are. The density is the default's where not given.
void set_compressor(Profile& profile, const std::string& id, const Options& options);

/// Reads a profile (docs/profile.md); every InputError names file, line and column. Refused:
/// unknown schema, no tensors or more than kMostTensors, two tensors of one name, bytes that are no
/// multiple of the element size (where neither grad_dtype nor a compressor asks for one: of 2),
/// negative or non-finite numbers, points that do not increase, a compressor without costs, options
/// that it does not have, unknown keys inside known objects. Unknown top-level keys are noted and
/// ignored ("expected" and others belong to test data).
[[nodiscard]] Profile load_profile(const std::filesystem::path& file);
[[nodiscard]] Profile profile_from(const Node& root);

/// Parts of a profile that other files have too; InputErrors as load_profile().
[[nodiscard]] CostModel cost_model_from(const Node& node);
[[nodiscard]] std::map<std::string, CompressorCost> compressor_costs_from(const Node& node);

/// The profile as a JSON document that load_profile reads back to an equal profile.
[[nodiscard]] nlohmann::json to_json(const Profile& profile);
[[nodiscard]] nlohmann::json to_json(const CostModel& model);
[[nodiscard]] nlohmann::json to_json(const Options& options);

}  // namespace mergewise
