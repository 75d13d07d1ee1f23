// SPDX-License-Identifier: Apache-2.0
// Exceptions, each with the exit code that bench/app gives it. Library code throws; only bench/app
// exits.
#pragma once

#include <stdexcept>
#include <string>

namespace mergewise {

/// The program's exit codes.
enum class ExitCode : int { kOk = 0, kRegression = 1, kBadInput = 2, kRunFailed = 3 };

/// Base of everything Mergewise throws on purpose. The message is one clear sentence: what was
/// found where, what was expected, what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// The user's input (config, profile, option, environment) is wrong: exit code 2.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(ExitCode::kBadInput, message) {}
};

/// What was asked for is sound but not available here (back end not compiled in, cost missing):
/// exit code 2.
class UnsupportedError : public Error {
 public:
  explicit UnsupportedError(const std::string& message) : Error(ExitCode::kBadInput, message) {}
};

/// A device, collective, peer or file failed while running: exit code 3.
class BackendError : public Error {
 public:
  explicit BackendError(const std::string& message) : Error(ExitCode::kRunFailed, message) {}
};

/// A reduced gradient is not what it must be, or ranks disagree about what to do: exit code 3.
class VerificationError : public Error {
 public:
  explicit VerificationError(const std::string& message) : Error(ExitCode::kRunFailed, message) {}
};

namespace detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& message);
}  // namespace detail

}  // namespace mergewise

/// Holds an invariant of our own code, in Release too; throws std::logic_error. Not for checking a
/// user's input.
#define MERGEWISE_CHECK(condition, message)                                         \
  do {                                                                              \
    if (!(condition)) {                                                             \
      ::mergewise::detail::check_failed(#condition, __FILE__, __LINE__, (message)); \
    }                                                                               \
  } while (false)
