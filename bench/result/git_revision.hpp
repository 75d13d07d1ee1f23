// SPDX-License-Identifier: Apache-2.0
// The source revision this program was built from, looked up again by every build.
#pragma once

#include <string_view>

namespace mergewise {

struct GitRevision {
  std::string_view revision;  ///< the commit, or "" when the sources are no git checkout
  bool dirty = false;         ///< tracked files differed from that commit
};

[[nodiscard]] const GitRevision& git_revision();

}  // namespace mergewise
