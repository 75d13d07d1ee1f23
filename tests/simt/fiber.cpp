// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MERGEWISE_SIMT_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define MERGEWISE_SIMT_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define MERGEWISE_SIMT_ASAN
#endif
#if defined(__SANITIZE_THREAD__)
#define MERGEWISE_SIMT_TSAN
#endif

#ifdef MERGEWISE_SIMT_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef MERGEWISE_SIMT_TSAN
#include <sanitizer/tsan_interface.h>
extern "C" {
// Of the runtime, but in no header.
void AnnotateIgnoreReadsBegin(const char* file, int line);  // NOLINT(readability-identifier-naming)
void AnnotateIgnoreReadsEnd(const char* file, int line);    // NOLINT(readability-identifier-naming)
void AnnotateIgnoreWritesBegin(const char* file,
                               int line);                  // NOLINT(readability-identifier-naming)
void AnnotateIgnoreWritesEnd(const char* file, int line);  // NOLINT(readability-identifier-naming)
}
#endif

namespace mergewise::simt {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kStackBytes = std::size_t{256}
                                    << 10;  // room for sanitized frames; only touched pages cost

void before_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* stack,
                   [[maybe_unused]] std::size_t bytes, [[maybe_unused]] void* tsan_fiber) {
#ifdef MERGEWISE_SIMT_ASAN
  __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
#endif
#ifdef MERGEWISE_SIMT_TSAN
  __tsan_switch_to_fiber(tsan_fiber, __tsan_switch_to_fiber_no_sync);
#endif
}

void after_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** old_stack,
                  [[maybe_unused]] std::size_t* old_bytes) {
#ifdef MERGEWISE_SIMT_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, old_stack, old_bytes);
#endif
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
  void* memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  memory_ = static_cast<std::byte*>(memory);
  if (mprotect(memory_, kGuardBytes, PROT_NONE) != 0 || getcontext(&context_) != 0) {
    munmap(memory_, kGuardBytes + kStackBytes);
    throw std::bad_alloc();
  }
  context_.uc_stack.ss_sp = memory_ + kGuardBytes;
  context_.uc_stack.ss_size = kStackBytes;
  context_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  // makecontext passes ints: a pointer goes in halves.
  makecontext(&context_, reinterpret_cast<void (*)()>(&Fiber::entry), 2,
              static_cast<unsigned>(self >> 32U), static_cast<unsigned>(self));
#ifdef MERGEWISE_SIMT_TSAN
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#ifdef MERGEWISE_SIMT_TSAN
  __tsan_destroy_fiber(tsan_fiber_);
#endif
  munmap(memory_, kGuardBytes + kStackBytes);
}

// The context is made once and loops, so that the sanitizers' idea of its stack stays balanced.
void Fiber::entry(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fiber*>((std::uintptr_t{high} << 32U) | low);
  after_switch(nullptr, &self->caller_stack_, &self->caller_bytes_);
  for (;;) {
    self->body_();
    self->suspend();
  }
}

void Fiber::resume() {
#ifdef MERGEWISE_SIMT_TSAN
  tsan_caller_ = __tsan_get_current_fiber();
#endif
  void* fake_stack = nullptr;
  before_switch(&fake_stack, memory_ + kGuardBytes, kStackBytes, tsan_fiber_);
  swapcontext(&caller_, &context_);
  after_switch(fake_stack, nullptr, nullptr);
}

void Fiber::suspend() {
  before_switch(&fake_stack_, caller_stack_, caller_bytes_, tsan_caller_);
  swapcontext(&context_, &caller_);
  after_switch(fake_stack_, &caller_stack_, &caller_bytes_);
}

void release([[maybe_unused]] void* object) {
#ifdef MERGEWISE_SIMT_TSAN
  __tsan_release(object);
#endif
}

void acquire([[maybe_unused]] void* object) {
#ifdef MERGEWISE_SIMT_TSAN
  __tsan_acquire(object);
#endif
}

// Neither is defaulted in the header: then they would be trivial, and a guard an unused variable.
Unobserved::Unobserved() {  // NOLINT(modernize-use-equals-default)
#ifdef MERGEWISE_SIMT_TSAN
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}

Unobserved::~Unobserved() {  // NOLINT(modernize-use-equals-default)
#ifdef MERGEWISE_SIMT_TSAN
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

}  // namespace mergewise::simt
