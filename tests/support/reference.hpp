// SPDX-License-Identifier: Apache-2.0
// Where published measurements lie, which are part of no checkout: tests that need them skip with
// the reason where they are absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace mergewise::test {

/// A file of the folder MERGEWISE_REFERENCE, else of shared/reference beside the checkout.
inline std::filesystem::path reference_file(const std::string& name) {
  const char* given = std::getenv("MERGEWISE_REFERENCE");
  const std::filesystem::path folder =
      given != nullptr ? given : MERGEWISE_SOURCE_DIR "/../shared/reference";
  return folder / name;
}

/// "" where the file is there, else why the test is skipped: GTEST_SKIP() << lacking(file).
inline std::string lacking(const std::filesystem::path& file) {
  if (std::filesystem::is_regular_file(file)) return "";
  return "published measurements: no " + file.string() + ": set MERGEWISE_REFERENCE";
}

}  // namespace mergewise::test
