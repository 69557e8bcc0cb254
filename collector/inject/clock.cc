// SPDX-License-Identifier: MIT
#include "collector/inject/clock.h"

#include <dlfcn.h>

namespace headway::inject {

constinit ReadClock g_read_clock = ::clock_gettime;

void find_clock() {
  void* kernel = ::dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!kernel) return;
#ifdef __aarch64__
  constexpr const char* kName = "__kernel_clock_gettime";
#else
  constexpr const char* kName = "__vdso_clock_gettime";
#endif
  if (void* found = ::dlsym(kernel, kName)) g_read_clock = reinterpret_cast<ReadClock>(found);
  ::dlclose(kernel);
}

}  // namespace headway::inject
