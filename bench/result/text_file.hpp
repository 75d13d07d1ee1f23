// SPDX-License-Identifier: Apache-2.0
// Small files of the kernel (/proc, /sys), which may be missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace mergewise {

/// The whole text; nothing when the file cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const std::filesystem::path& file);
/// The first line without its end; nothing when it is missing or empty.
[[nodiscard]] std::optional<std::string> read_line(const std::filesystem::path& file);
/// The first line as a number; nothing when it is none.
[[nodiscard]] std::optional<double> read_number(const std::filesystem::path& file);

}  // namespace mergewise
