// SPDX-License-Identifier: MIT
// A training program on a pretended GPU: loads the injected library as the CUDA driver does inside
// cuInit, then tells the pretended CUPTI (fake_cupti.cc) of copies, launches, kernels and waits as
// they would happen. Usage: cuda_training STEPS [kill|exit|unfinished|rename|KERNELS]
//   kill, exit  dies by SIGKILL or _exit after the last step, before anything is flushed
//   unfinished  the last kernel never ends
//   rename      another kernel comes to lie at the address of a name
//   profiler    calls cudaProfilerStart before the third step and cudaProfilerStop after the fifth
//   late        its kernels run one step behind their launches, as on a device that is always busy
//   pauses      asks the recorder to pause CUDA from the second step to the third, both included
//   collected   exits with 77 when CUPTI still collects at the end
//   KERNELS     so many kernels a step instead of three, with no pauses
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fake_cupti.h"

namespace {

constexpr std::uint32_t kLaunch = 211;
constexpr std::uint32_t kCopy = 41;
constexpr std::uint32_t kStreamSynchronize = 131;
constexpr std::uint32_t kGetLastError = 10;
constexpr std::uint32_t kStream = 7;
constexpr std::uint8_t kHostToDevice = 1;

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void sleep_until(std::uint64_t time) {
  while (now() < time) ::usleep(50);
}

struct Cupti {
  decltype(&fake_cupti_call) call;
  decltype(&fake_cupti_kernel) kernel;
  decltype(&fake_cupti_copy) copy;
  decltype(&fake_cupti_wait) wait;
  decltype(&fake_cupti_profiler) profiler;
  decltype(&fake_cupti_collects) collects;
  int (*pause)(int) = nullptr;
};

bool init(Cupti& cupti) {
  if (const char* path = std::getenv("CUDA_INJECTION64_PATH")) {
    void* library = ::dlopen(path, RTLD_NOW);
    auto* initialize =
        library ? reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection")) : nullptr;
    if (!initialize || initialize() != 1) return false;
    cupti.pause = reinterpret_cast<int (*)(int)>(::dlsym(library, "headway_pause_cuda"));
  }
  void* fake = ::dlopen("libcupti.so.13", RTLD_NOW);
  if (!fake) return false;
  cupti.call = reinterpret_cast<decltype(cupti.call)>(::dlsym(fake, "fake_cupti_call"));
  cupti.kernel = reinterpret_cast<decltype(cupti.kernel)>(::dlsym(fake, "fake_cupti_kernel"));
  cupti.copy = reinterpret_cast<decltype(cupti.copy)>(::dlsym(fake, "fake_cupti_copy"));
  cupti.wait = reinterpret_cast<decltype(cupti.wait)>(::dlsym(fake, "fake_cupti_wait"));
  cupti.profiler = reinterpret_cast<decltype(cupti.profiler)>(::dlsym(fake, "fake_cupti_profiler"));
  cupti.collects = reinterpret_cast<decltype(cupti.collects)>(::dlsym(fake, "fake_cupti_collects"));
  return cupti.profiler && cupti.collects && cupti.call && cupti.kernel && cupti.copy && cupti.wait;
}

}  // namespace

int main(int argc, char** argv) {
  Cupti cupti{};
  if (argc < 2 || !init(cupti)) return 3;
  const int steps = std::atoi(argv[1]);
  const std::string how = argc > 2 ? argv[2] : "";
  const int many = std::atoi(how.c_str());
  static char gemm[] = "_Z11gemm_kernelILi128EEvPKfS1_Pf";
  static const char* const kKernels[] = {gemm, "_ZN2nn4normEPfi", "plain_kernel"};
  std::uint32_t correlation = 0;
  std::uint64_t behind = 0;
  std::vector<FakeKernel> launching;
  std::vector<FakeKernel> launched;
  for (int step = 0; step < steps; ++step) {
    if (how == "profiler" && step == 2) cupti.profiler(true);
    if (how == "pauses" && (step == 1 || step == 3)) {
      const int changed = cupti.pause(step == 1);
      std::printf("%d %d\n", changed, cupti.pause(step == 1));
    }
    nvtxRangePushA(("step " + std::to_string(step)).c_str());
    if (how == "rename" && step == steps / 2) std::strcpy(gemm, "_Z12other_kernelPf");
    std::uint64_t call = now();
    const bool late = how == "late";
    std::uint64_t device = late ? std::max(call + 1'000'000, behind) : call + 5'000;
    const FakeCall copy_call{false, kCopy, ++correlation, call, call + 4'000};
    cupti.call(&copy_call);
    const FakeCopy copy{kHostToDevice, 1 << 20, correlation, kStream, device, device + 50'000};
    cupti.copy(&copy);
    device += 50'000;
    const FakeCall question{false, kGetLastError, ++correlation, call, call + 100};
    cupti.call(&question);
    const int kernels = many > 0 ? many : 3;
    for (int k = 0; k < kernels; ++k) {
      call += 4'000;
      const FakeCall launch{false, kLaunch, ++correlation, call, call + 3'000};
      cupti.call(&launch);
      const bool last = how == "unfinished" && step + 1 == steps && k + 1 == kernels;
      const std::uint64_t length = many > 0 ? 1'000 : 300'000;
      const FakeKernel kernel{kKernels[k % 3], correlation, kStream, device + 1'000,
                              last ? 0 : device + 1'000 + length};
      if (late) {
        launching.push_back(kernel);
      } else {
        cupti.kernel(&kernel);
      }
      device += 1'000 + length;
    }
    const std::uint64_t wait = std::max(now(), call + 4'000);
    if (late) {
      sleep_until(call + 950'000);
      behind = device;
      for (const FakeKernel& kernel : launched) cupti.kernel(&kernel);
      launched = std::move(launching);
      launching.clear();
    } else if (many == 0) {
      sleep_until(device + 2'000);
    }
    const std::uint64_t done = std::max(now(), wait + 1);
    const FakeCall synchronize{false, kStreamSynchronize, ++correlation, wait, done};
    cupti.call(&synchronize);
    const FakeWait waited{3, correlation, kStream, wait, done};
    cupti.wait(&waited);
    nvtxRangePop();
    if (how == "profiler" && step == 4) cupti.profiler(false);
  }
  for (const FakeKernel& kernel : launched) cupti.kernel(&kernel);
  if (how == "collected") return cupti.collects() ? 77 : 0;
  // What the device did lies in the past when it is reported.
  if (many > 0) ::usleep(20'000);
  if (how == "kill") ::kill(::getpid(), SIGKILL);
  if (how == "exit") ::_exit(0);
}
