// SPDX-License-Identifier: MIT
// Does what the CUDA driver does inside the first cuInit: loads CUDA_INJECTION64_PATH and calls its
// InitializeInjection. For machines without a driver.
#include <dlfcn.h>

#include <cstdlib>

int main() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* library = path ? ::dlopen(path, RTLD_NOW) : nullptr;
  if (!library) return 3;
  auto* initialize = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
  if (!initialize) return 3;
  // Twice: it has to be idempotent. Then as NVTX and programs do: unload it.
  bool accepted = initialize() == 1 && initialize() == 1;
  ::dlclose(library);
  return accepted ? 0 : 3;
}
