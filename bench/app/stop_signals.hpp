// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGUSR1 (Slurm's warning) ask for a stop; a second one ends the process at
// once.
#pragma once

namespace mergewise {

/// Installs the handlers. The one piece of process-wide state that signals force upon us lives in
/// the .cpp.
void install_stop_signals();
/// A stop was asked for. Async-signal-safe, thread-safe.
[[nodiscard]] bool stop_requested();

}  // namespace mergewise
