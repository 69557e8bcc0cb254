// SPDX-License-Identifier: MIT
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace headway::inject {

/// A mutex whose unlocked state is all zero bytes, so that a page emptied by fork holds a free one.
/// Allocates nothing and calls no library. Never taken on the hot path.
class FutexLock {
 public:
  void lock() {
    std::uint32_t expected = kFree;
    if (state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire)) return;
    while (state_.exchange(kContended, std::memory_order_acquire) != kFree) {
      ::syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kContended, nullptr, nullptr, 0);
    }
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kContended) {
      ::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kContended = 2;
  std::atomic<std::uint32_t> state_{kFree};
};

/// Holds the lock for a scope.
class Locked {
 public:
  explicit Locked(FutexLock& lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  FutexLock& lock_;
};

}  // namespace headway::inject
