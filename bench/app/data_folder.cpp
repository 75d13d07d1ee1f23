// SPDX-License-Identifier: Apache-2.0
#include "bench/app/data_folder.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

namespace mergewise {

std::filesystem::path configs_folder() {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto installed = program.parent_path().parent_path() / "share/mergewise/configs";
  if (std::filesystem::is_directory(installed, ignored)) return installed;
  const std::filesystem::path source = MERGEWISE_SOURCE_CONFIGS;
  if (std::filesystem::is_directory(source, ignored)) return source;
  throw InputError(
      fmt::format("the folder with the descriptions of accelerators and clusters is neither at {} "
                  "nor at {}: keep "
                  "share/mergewise beside bin/ when you move the program",
                  installed.string(), source.string()));
}

std::filesystem::path accelerators_folder() { return configs_folder() / "accelerators"; }
std::filesystem::path clusters_folder() { return configs_folder() / "clusters"; }

}  // namespace mergewise
