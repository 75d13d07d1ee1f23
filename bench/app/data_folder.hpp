// SPDX-License-Identifier: Apache-2.0
// Where the program finds its own data.
#pragma once

#include <filesystem>

namespace mergewise {

/// The folder that holds accelerators/ and clusters/: beside an installed program
/// (../share/mergewise/configs), else the source tree it was built from. Throws InputError naming
/// both when neither is there.
[[nodiscard]] std::filesystem::path configs_folder();
[[nodiscard]] std::filesystem::path accelerators_folder();
[[nodiscard]] std::filesystem::path clusters_folder();

}  // namespace mergewise
