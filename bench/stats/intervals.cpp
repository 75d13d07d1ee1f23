// SPDX-License-Identifier: Apache-2.0
#include "bench/stats/intervals.hpp"

#include "bench/core/error.hpp"

#include <algorithm>

namespace mergewise {

std::vector<Stretch> union_of(std::vector<Stretch> stretches) {
  std::erase_if(stretches, [](const Stretch& s) { return !(s.first < s.second); });
  std::sort(stretches.begin(), stretches.end());
  std::vector<Stretch> disjoint;
  for (const Stretch& stretch : stretches) {
    if (!disjoint.empty() && stretch.first <= disjoint.back().second) {
      disjoint.back().second = std::max(disjoint.back().second, stretch.second);
    } else {
      disjoint.push_back(stretch);
    }
  }
  return disjoint;
}

double length(const std::vector<Stretch>& disjoint) {
  double sum = 0;
  for (const Stretch& stretch : disjoint) sum += stretch.second - stretch.first;
  return sum;
}

std::vector<Stretch> difference(const std::vector<Stretch>& a, const std::vector<Stretch>& b) {
  std::vector<Stretch> rest;
  std::size_t next = 0;  // the first stretch of b that does not end before the current one of a
  for (const Stretch& stretch : a) {
    double from = stretch.first;
    while (next < b.size() && b[next].second <= from) ++next;
    for (std::size_t i = next; i < b.size() && b[i].first < stretch.second; ++i) {
      if (from < b[i].first) rest.emplace_back(from, b[i].first);
      from = std::max(from, b[i].second);
    }
    if (from < stretch.second) rest.emplace_back(from, stretch.second);
  }
  return rest;
}

std::vector<std::pair<std::string, double>> label_time(
    double begin, double end,
    const std::vector<std::pair<std::string, std::vector<Stretch>>>& layers) {
  MERGEWISE_CHECK(begin <= end, "time runs forward");
  std::vector<std::pair<std::string, double>> labels;
  std::vector<Stretch> rest = union_of({{begin, end}});
  for (const auto& [label, stretches] : layers) {
    std::vector<Stretch> uncovered = difference(rest, union_of(stretches));
    labels.emplace_back(label, length(difference(rest, uncovered)));
    rest = std::move(uncovered);
  }
  labels.emplace_back("idle", length(rest));
  return labels;
}

}  // namespace mergewise
