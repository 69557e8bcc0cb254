// SPDX-License-Identifier: MIT
#include "collector/inject/io/next.h"

#include <dlfcn.h>

#include <cerrno>

namespace headway::inject::io {

constinit std::atomic<void*> g_next[wire::kIoFunctionCount] = {};

namespace {

/// Stands for a function that this C library is too old to have.
long missing() {
  errno = ENOSYS;
  return -1;
}

}  // namespace

void* look_up(IoFunction function) {
  int saved = errno;
  auto index = static_cast<std::size_t>(function);
  void* found = ::dlsym(RTLD_NEXT, wire::kIoFunctionNames[index]);
  errno = saved;
  if (!found) found = reinterpret_cast<void*>(&missing);
  g_next[index].store(found, std::memory_order_relaxed);
  return found;
}

}  // namespace headway::inject::io
