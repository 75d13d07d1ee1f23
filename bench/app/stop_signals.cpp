// SPDX-License-Identifier: Apache-2.0
#include "bench/app/stop_signals.hpp"

#include "bench/core/error.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace mergewise {
namespace {

// A handler has no argument of ours, so this flag must be global; only the handler writes it.
std::atomic<bool> stop_flag{false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free);

void handle(int) {
  if (stop_flag.exchange(true)) _exit(static_cast<int>(ExitCode::kRunFailed));
}

}  // namespace

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
}

bool stop_requested() { return stop_flag.load(); }

}  // namespace mergewise
