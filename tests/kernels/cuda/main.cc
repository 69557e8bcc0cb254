// SPDX-License-Identifier: MIT
// Every CUDA kernel against double precision, on the first GPU that the driver shows. Options are doctest's.
// Exit code 77: there is no usable GPU; the reason is printed. The ordinary tests run this program with a driver
// that executes the kernels on the processor (tests/targets/fake_cuda).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <string_view>

#include "common/error.h"
#include "tests/kernels/cuda/gpu.h"

int main(int argc, char** argv) {
  constexpr int kNoGpu = 77;
  // The list of tests, which the build asks for, needs no GPU.
  if (argc > 1 && std::string_view(argv[1]).starts_with("--list"))
    return doctest::Context(argc, argv).run();
  std::string why;
  const auto driver = headway::cuda::load_driver(why);
  if (!driver) {
    std::printf("no usable CUDA device: %s\n", why.c_str());
    return kNoGpu;
  }
  try {
    headway::test::Gpu gpu(*driver);
    headway::test::set_gpu(&gpu);
    std::printf("device: %s\nkernel parameters: %zu bytes\n", gpu.context().name().c_str(),
                gpu.limits().parameter_bytes);
    if (!gpu.library().compiles())
      std::printf("generated code is not tested: %s\n", gpu.no_compiler().c_str());
    const int result = doctest::Context(argc, argv).run();
    headway::test::set_gpu(nullptr);
    return result;
  } catch (const headway::Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
