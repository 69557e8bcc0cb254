// SPDX-License-Identifier: MIT
// A program on a pretended GPU that names its device and stream, allocates and releases memory, and
// runs a kernel. The stream's handle is its number on the pretended CUPTI (fake_cupti.cc).
#include <dlfcn.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <time.h>

#include <cstdlib>

#include "fake_cupti.h"

namespace {

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

template <class Function>
Function* find(void* library, const char* name) {
  auto* found = library ? reinterpret_cast<Function*>(::dlsym(library, name)) : nullptr;
  if (!found) std::exit(3);
  return found;
}

}  // namespace

int main() {
  const char* injected = std::getenv("CUDA_INJECTION64_PATH");
  if (!injected || find<int()>(::dlopen(injected, RTLD_NOW), "InitializeInjection")() != 1)
    return 3;
  void* cupti = ::dlopen("libcupti.so.13", RTLD_NOW);
  auto* memory = find<void(const FakeMemory*)>(cupti, "fake_cupti_memory");
  auto* pool = find<void(std::uint64_t, std::uint64_t)>(cupti, "fake_cupti_pool");
  auto* kernel = find<void(const FakeKernel*)>(cupti, "fake_cupti_kernel");

  nvtxNameCudaDeviceA(0, "the encoder's device");
  nvtxNameCudaStreamW(reinterpret_cast<cudaStream_t>(std::uintptr_t{7}), L"copies \u00e4");
  nvtxNameCudaStreamA(nullptr, "CUPTI knows no such stream");

  const FakeMemory first{false, 0x1000, 1 << 20, 1, now()};
  memory(&first);
  const FakeMemory second{false, 0x2000, 3 << 20, 2, now()};
  memory(&second);
  const FakeKernel work{"kernel", 3, 7, now() + 10'000, now() + 20'000};
  kernel(&work);
  const FakeMemory released{true, 0x1000, 1 << 20, 4, now()};
  memory(&released);
  pool(3 << 20, now());
  while (now() < work.end) {
  }
}
