// SPDX-License-Identifier: Apache-2.0
// A fiber: a function with a stack of its own that can stop in the middle and go on later, on
// ucontext, announced to the address and thread sanitizers.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace mergewise::simt {

/// Runs its body each time it is started; may be started again once the body has ended. Belongs to
/// one host thread at a time. The body must not let exceptions out.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// From outside: starts the body, or goes on where it suspended; returns when it suspends or
  /// ends.
  void resume();
  /// From inside the body: back to the caller of resume().
  void suspend();

 private:
  static void entry(unsigned high, unsigned low);

  std::function<void()> body_;
  std::byte* memory_;  // a guard page, then the stack
  ucontext_t context_{};
  ucontext_t caller_{};
  // What the sanitizers want to know about a switch.
  void* fake_stack_ = nullptr;
  const void* caller_stack_ = nullptr;
  std::size_t caller_bytes_ = 0;
  void* tsan_fiber_ = nullptr;
  void* tsan_caller_ = nullptr;
};

// To the thread sanitizer each fiber is a thread, and switching orders nothing: what the program's
// barriers order is told by these (nothing to do without that sanitizer).

/// What the calling fiber did so far happens before what follows acquire(object) elsewhere.
void release(void* object);
void acquire(void* object);

/// While it lives, the calling fiber's reads and writes are not looked at: bookkeeping that is
/// never concurrent.
class Unobserved {
 public:
  Unobserved();
  ~Unobserved();
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;
};

}  // namespace mergewise::simt
