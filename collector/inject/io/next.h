// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "collector/wire/io.h"

namespace headway::inject::io {

using wire::IoFunction;

/// By IoFunction; null: not looked up.
extern constinit std::atomic<void*> g_next[wire::kIoFunctionCount];
/// Keeps errno. What the C library does not have fails with ENOSYS when it is called.
void* look_up(IoFunction function);

/// The function that the program would have called without us: the C library's, or that of a library
/// which is preloaded after ours.
template <class Pointer>
Pointer next(IoFunction function) {
  void* known = g_next[static_cast<std::size_t>(function)].load(std::memory_order_relaxed);
  if (!known) [[unlikely]]
    known = look_up(function);
  return reinterpret_cast<Pointer>(known);
}

}  // namespace headway::inject::io
