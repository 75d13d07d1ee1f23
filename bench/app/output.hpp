// SPDX-License-Identifier: Apache-2.0
// Where results go: found out to be unusable before anything runs. Throw InputError, naming it and
// the option that chooses another.
#pragma once

#include <filesystem>
#include <string>

namespace mergewise {

/// Makes the folder of `--out` and tries to write there.
void prepare_output_folder(const std::filesystem::path& folder);

/// Tries to write where the file is to be; `option` names it. Nothing for "".
void check_output_file(const std::filesystem::path& file, const std::string& option);

}  // namespace mergewise
