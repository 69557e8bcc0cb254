// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "collector/wire/io.h"

namespace headway::inject::io {

using wire::IoFunction;

/// The hidden functions, by IoFunction; null: not looked up yet.
extern constinit std::atomic<void*> g_next[wire::kIoFunctionCount];
/// Looks up the hidden function. Keeps errno. A function that the C library lacks is replaced by one
/// that fails with ENOSYS.
void* look_up(IoFunction function);

/// The function that the program would have called without this library: the C library's, or that of
/// a library which is preloaded after ours.
template <class Pointer>
Pointer next(IoFunction function) {
  void* known = g_next[static_cast<std::size_t>(function)].load(std::memory_order_relaxed);
  if (!known) [[unlikely]]
    known = look_up(function);
  return reinterpret_cast<Pointer>(known);
}

}  // namespace headway::inject::io
