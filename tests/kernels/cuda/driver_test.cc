// SPDX-License-Identifier: MIT
// What happens between the kernels' library and the driver, without a GPU: the program that tests the kernels runs
// with the drivers of tests/targets/fake_cuda, which refuse calls, note them, or miss functions.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/run_command.h"
#include "tests/support/temporary_folder.h"

namespace headway::kernels::cuda {
namespace {

using test::Outcome;
/// The first test of the program, with the libcuda.so.1 of that folder beside the targets.
Outcome run(const std::string& environment, const std::string& folder) {
  const std::string command =
      environment + " LD_LIBRARY_PATH='" HEADWAY_BINARY_DIR "/targets/" + folder +
      "' '" HEADWAY_BINARY_DIR "/headway_test_kernels_cuda' -tc='add and ReLU*'";
  return test::run_command(command);
}

}  // namespace

TEST_CASE("without a usable GPU the test of the kernels says why and ends with 77") {
  CHECK(run("FAKE_CUDA_DEVICES=0", "cuda").status == 77);
  CHECK(run("FAKE_CUDA_DEVICES=0", "cuda").says("no usable CUDA device: the driver shows no GPU"));
  const Outcome old = run("", "cuda_old");
  CHECK(old.status == 77);
  CHECK(old.says(": update the driver"));
}

TEST_CASE("a call that the driver refuses is named, with the driver's error") {
  for (const char* call : {"cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuModuleLoadData",
                           "cuModuleGetFunction", "cuLaunchKernel", "cuMemAlloc", "cuMemcpyDtoH"}) {
    CAPTURE(call);
    const Outcome outcome = run(std::string("FAKE_CUDA_FAILS=") + call, "cuda");
    CHECK(outcome.status == 1);
    CHECK(outcome.says(std::string(call) + " failed: CUDA_ERROR_OUT_OF_MEMORY (2)"));
  }
}

TEST_CASE("an image is loaded once, when first used, and everything is given back") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "calls";
  CHECK(run("FAKE_CUDA_CALLS='" + file + "'", "cuda").status == 0);
  std::vector<std::string> calls;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) calls.push_back(line);
  auto count = [&](const char* name) { return std::ranges::count(calls, name); };
  CHECK(count("cuModuleLoadData") == 2);  // add.cu and relu.cu
  CHECK(count("cuModuleUnload") == 2);
  CHECK(count("cuModuleGetFunction") == 3 * 3);  // add, relu forward and backward in three formats
  CHECK(count("cuLaunchKernel") > 100);
  CHECK(count("cuMemAlloc") > 100);
  CHECK(count("cuMemFree") == count("cuMemAlloc"));
  CHECK(count("cuDevicePrimaryCtxRelease") == count("cuDevicePrimaryCtxRetain"));
  CHECK(std::ranges::find(calls, "cuModuleLoadData") > std::ranges::find(calls, "cuMemAlloc"));
}

TEST_CASE("a driver before CUDA 12.1 gets small tables only") {
  CHECK(run("FAKE_CUDA_VERSION=12000", "cuda").says("kernel parameters: 4096 bytes"));
  CHECK(run("FAKE_CUDA_VERSION=12010", "cuda").says("kernel parameters: 32764 bytes"));
}

}  // namespace headway::kernels::cuda
