// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/ddp.hpp"

namespace mergewise {
namespace {

constexpr Bytes kDefaultCap = Bytes{25} << 20;
constexpr Bytes kDefaultFirstCap = Bytes{1} << 20;

/// PyTorch starts with a small bucket unless its user has chosen a cap.
Bytes first_cap(const Options& options) {
  if (!options.is_word("first_cap_bytes", "auto")) return options.integer("first_cap_bytes");
  const Bytes cap = options.integer("cap_bytes");
  return cap == kDefaultCap ? kDefaultFirstCap : cap;
}

}  // namespace

Decision detail::by_cap(std::size_t border, Bytes bucket, Bytes cap, const std::string& cap_name) {
  const bool merged = bucket < cap;
  return {.border = border,
          .merged = merged,
          .left = "bytes in the bucket",
          .right = cap_name,
          .left_value = static_cast<double>(bucket),
          .right_value = static_cast<double>(cap),
          .unit = "bytes",
          .why = merged ? "the bucket has not reached its cap" : "the bucket has reached its cap"};
}

std::vector<OptionSpec> Ddp::do_options() const {
  return {{.name = "cap_bytes",
           .kind = OptionKind::kInteger,
           .summary = "a bucket is closed once it has this many bytes",
           .default_value = kDefaultCap,
           .choices = {}},
          {.name = "first_cap_bytes",
           .kind = OptionKind::kInteger,
           .summary = "the first bucket's cap; auto: 1 MiB with the default cap_bytes, else "
                      "cap_bytes; older PyTorch: always 1048576",
           .default_value = std::string("auto"),
           .choices = {"auto"}}};
}

MergePlan Ddp::do_plan(const Task& task) const {
  const TimeModel& model = task.model;
  const std::size_t count = model.tensor_count();
  const Bytes later_cap = task.options.integer("cap_bytes");
  std::vector<std::size_t> ends;
  Bytes cap = first_cap(task.options);
  Bytes bucket = 0;
  for (std::size_t next = 1; next < count; ++next) {
    bucket += model.bytes(next - 1);
    if (task.decisions != nullptr) {
      task.decisions->push_back(
          detail::by_cap(next, bucket, cap, ends.empty() ? "first_cap_bytes" : "cap_bytes"));
    }
    if (bucket < cap) continue;
    ends.push_back(next);
    cap = later_cap;
    bucket = 0;
  }
  ends.push_back(count);
  return plan_from_ends(id(), ends, model.collective());
}

}  // namespace mergewise
