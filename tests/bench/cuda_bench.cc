// SPDX-License-Identifier: MIT
// What Headway does in a CUDA program per record of CUPTI, beside CUPTI itself: handing out buffers,
// walking each full one for names, publishing it. On the pretended CUPTI of the tests, which measures
// the time inside our callbacks. Prints ns a record. Usage (under headway record): headway_bench_cuda
// RECORDS
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/targets/fake_cupti.h"

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

int main(int argc, char** argv) {
  const char* injected = std::getenv("CUDA_INJECTION64_PATH");
  const long records = argc > 1 ? std::atol(argv[1]) : 100'000;
  if (!injected || find<int()>(::dlopen(injected, RTLD_NOW), "InitializeInjection")() != 1)
    return 3;
  void* cupti = ::dlopen("libcupti.so.13", RTLD_NOW);
  auto* call = find<void(const FakeCall*)>(cupti, "fake_cupti_call");
  auto* kernel = find<void(const FakeKernel*)>(cupti, "fake_cupti_kernel");
  auto* spent = find<std::uint64_t()>(cupti, "fake_cupti_spent_ns");
  static const char* const kNames[] = {"_Z11gemm_kernelILi128EEvPKfS1_Pf", "_ZN2nn4normEPfi",
                                       "plain_kernel"};
  std::uint32_t correlation = 0;
  for (long i = 0; i < records / 2; ++i) {
    const std::uint64_t time = now() - 10'000;
    const FakeCall launch{false, 211, ++correlation, time, time + 3'000};
    call(&launch);
    const FakeKernel work{kNames[i % 3], correlation, 7, time + 4'000, time + 5'000};
    kernel(&work);
    // Ten thousand launches a second, as a program that is bound by them makes.
    if (i % 100 == 99) ::usleep(8'000);
  }
  std::printf("%.3f\n", static_cast<double>(spent()) / static_cast<double>(records));
}
