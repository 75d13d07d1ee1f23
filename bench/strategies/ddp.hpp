// SPDX-License-Identifier: Apache-2.0
// PyTorch DistributedDataParallel's buckets: close a bucket once it has reached its cap.
#pragma once

#include "bench/strategies/strategy.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mergewise {

/// Li et al., VLDB 2020 (arXiv 2006.15704); caps as in PyTorch's reducer. Options:
/// cap_bytes, first_cap_bytes (a small first bucket starts the network early). Sizes are dense
/// bytes. O(L).
class Ddp final : public Strategy {
 private:
  [[nodiscard]] std::string do_id() const override { return "ddp"; }
  [[nodiscard]] std::string do_summary() const override {
    return "PyTorch DDP: close a bucket once its size reaches the cap";
  }
  [[nodiscard]] std::vector<OptionSpec> do_options() const override;
  [[nodiscard]] MergePlan do_plan(const Task& task) const override;
};

namespace detail {
/// The decision of a rule that closes a bucket once its size, in dense bytes, has reached a cap.
[[nodiscard]] Decision by_cap(std::size_t border, Bytes bucket, Bytes cap,
                              const std::string& cap_name);
}  // namespace detail

}  // namespace mergewise
