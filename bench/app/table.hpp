// SPDX-License-Identifier: Apache-2.0
// Plain text tables for terminals.
#pragma once

#include <string>
#include <vector>

namespace mergewise {

/// Columns padded to their widest cell; the first `left_columns` align left, the others right. No
/// trailing spaces.
[[nodiscard]] std::string format_table(const std::vector<std::string>& header,
                                       const std::vector<std::vector<std::string>>& rows,
                                       std::size_t left_columns = 1);

}  // namespace mergewise
