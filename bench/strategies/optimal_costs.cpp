// SPDX-License-Identifier: Apache-2.0
#include "bench/strategies/optimal_costs.hpp"

namespace mergewise::detail {
namespace {

constexpr std::size_t kMostKept = 2000;

}  // namespace

std::vector<std::size_t> borders_of(const TimeModel& model) {
  std::vector<std::size_t> borders{0};
  borders.reserve(model.tensor_count() + 1);
  for (std::size_t tensor = 0; tensor < model.tensor_count(); ++tensor) {
    if (model.bytes(tensor) > 0) borders.push_back(tensor + 1);
  }
  return borders;
}

GroupCosts::GroupCosts(const TimeModel& model) : model_(model), borders_(borders_of(model)) {
  rows_.resize(count() <= kMostKept ? count() : 1);
  if (rows_.size() != count()) return;
  for (std::size_t j = 0; j < count(); ++j) fill(j, rows_[j]);
}

const std::vector<GroupCost>& GroupCosts::row(std::size_t j) {
  if (rows_.size() == count()) return rows_[j];
  fill(j, rows_.front());
  return rows_.front();
}

void GroupCosts::fill(std::size_t j, std::vector<GroupCost>& row) const {
  row.clear();
  row.reserve(count() - j);
  for (std::size_t i = j + 1; i <= count(); ++i) {
    row.push_back({model_.before_send(borders_[j], borders_[i]),
                   model_.transfer(borders_[j], borders_[i]),
                   model_.after_send(borders_[j], borders_[i])});
  }
}

}  // namespace mergewise::detail
