// SPDX-License-Identifier: MIT
// The trainer's CUDA device against the host device, on the first GPU that the driver shows. Options are doctest's.
// Exit code 77: there is no usable GPU, or no cuBLASLt; the reason is printed. The ordinary tests run this program with a
// driver that executes the kernels on the processor (tests/targets/fake_cuda).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <string_view>

#include "common/error.h"
#include "reference_trainer/devices/cuda/open.h"

int main(int argc, char** argv) {
  constexpr int kNoGpu = 77;
  // The list of tests, which the build asks for, needs no GPU.
  if (argc > 1 && std::string_view(argv[1]).starts_with("--list"))
    return doctest::Context(argc, argv).run();
  try {
    std::printf("device: %s\n", headway::trainer::open_cuda_device({})->info().name.c_str());
  } catch (const headway::Error& error) {
    std::printf("no usable CUDA device: %s\n", error.what());
    return kNoGpu;
  }
  return doctest::Context(argc, argv).run();
}
