// SPDX-License-Identifier: Apache-2.0
#include "bench/app/output.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace mergewise {
namespace {

namespace fs = std::filesystem;

// Why no file can be written in the folder; "" when one can. Tried, since permissions say little to
// root.
std::string obstacle(const fs::path& folder) {
  const fs::path probe = folder / fmt::format(".mergewise-probe-{}", ::getpid());
  std::string reason;
  errno = 0;
  if (!(std::ofstream(probe) << "probe" << std::flush)) {
    reason = std::generic_category().message(errno);
  }
  std::error_code ignored;
  fs::remove(probe, ignored);
  return reason;
}

}  // namespace

void prepare_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw InputError(
        fmt::format("the output directory {} cannot be made ({}): choose another with --out",
                    folder.string(), error.message()));
  }
  const std::string reason = obstacle(folder);
  if (reason.empty()) return;
  throw InputError(
      fmt::format("the output directory {} cannot be written to ({}): choose another with --out",
                  folder.string(), reason));
}

void check_output_file(const fs::path& file, const std::string& option) {
  if (file.empty()) return;
  std::error_code ignored;
  const fs::path target =
      fs::is_symlink(file, ignored) ? fs::weakly_canonical(file, ignored) : file;
  std::string reason;
  if (fs::is_directory(target, ignored)) {
    reason = "it is a directory";
  } else if (!fs::exists(target, ignored) || fs::is_regular_file(target, ignored)) {
    const fs::path folder = target.parent_path();
    reason = obstacle(folder.empty() ? "." : folder);
  }
  if (reason.empty()) return;
  throw InputError(fmt::format("the output file {} cannot be written ({}): choose another with {}",
                               file.string(), reason, option));
}

}  // namespace mergewise
