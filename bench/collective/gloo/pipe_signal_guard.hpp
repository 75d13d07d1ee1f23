// SPDX-License-Identifier: Apache-2.0
// Keeps a write to a dead peer from ending the process: Gloo does not ask the kernel to leave
// SIGPIPE out.
#pragma once

#include <signal.h>
#include <time.h>

namespace mergewise::detail {

/// Blocks SIGPIPE for the calling thread, and for threads that it creates, as long as it lives;
/// drops one that came meanwhile. The process's own handling of the signal stays as it is.
class PipeSignalGuard {
 public:
  PipeSignalGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalGuard() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    const timespec at_once{};
    sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalGuard(const PipeSignalGuard&) = delete;
  PipeSignalGuard& operator=(const PipeSignalGuard&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
};

}  // namespace mergewise::detail
