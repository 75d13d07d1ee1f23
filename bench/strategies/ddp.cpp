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
  std::vector<std::size_t> ends;
  Bytes cap = first_cap(task.options);
  Bytes bucket = 0;
  for (std::size_t tensor = 0; tensor < model.tensor_count(); ++tensor) {
    bucket += model.bytes(tensor);
    if (bucket >= cap || tensor + 1 == model.tensor_count()) {
      ends.push_back(tensor + 1);
      cap = task.options.integer("cap_bytes");
      bucket = 0;
    }
  }
  return plan_from_ends(id(), ends, model.collective());
}

}  // namespace mergewise
