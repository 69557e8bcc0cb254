// SPDX-License-Identifier: MIT
// headway-train --device cuda as a user starts it: without a GPU, with one that refuses, and what a step does.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/reference_trainer/cuda/command.h"
#include "tests/support/temporary_folder.h"

namespace headway {
namespace {

using test::check;
using test::emulated;

test::Outcome run(const std::string& environment, const std::string& arguments) {
  return test::run_trainer(environment, "--device cuda " + arguments);
}

std::vector<std::string> calls_of(int steps, const std::string& switches = "") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "calls";
  CHECK(
      run("FAKE_CUDA_CALLS='" + file + "'", "--steps " + std::to_string(steps) + switches).status ==
      0);
  std::vector<std::string> calls;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) calls.push_back(line);
  return calls;
}

}  // namespace

TEST_CASE("what is missing for a GPU is named, with what to do") {
  if (!emulated()) return;
  check(run("LD_LIBRARY_PATH=", "--steps 1"), 3, "device cuda: libcuda.so.1 is not found");
  check(run("FAKE_CUDA_DEVICES=0", "--steps 1"), 3,
        "device cuda: the driver shows no GPU. It needs an NVIDIA GPU");
  check(run("FAKE_CUDA_DEVICES=0", "--steps 1"), 3, "--device host");
  check(run("FAKE_CUBLAS_FAILS=cublasLtCreate", "--steps 1"), 3,
        "device cuda: cublasLtCreate failed with status 15");
  check(run("FAKE_CUDA_DEVICES=0", "--print-graph"), 0, "block0.ln1");
}

TEST_CASE("switches that the GPU cannot follow are refused") {
  check(run("", "--steps 1 --cuda-graph on --sync op"), 2, "cuda_graph: a graph is one launch");
  check(run("", "--steps 1 --cuda-graph on --device host"), 2, "cuda_graph: only --device cuda");
  check(run("", "--steps 1 --cuda-graph on --allocator raw"), 2,
        "cuda_graph: memory cannot be allocated and freed between the kernels of a graph");
}

TEST_CASE("a failed launch names the op, a failed product too, and memory that does not suffice") {
  if (!emulated()) return;
  check(run("FAKE_CUDA_FAILS=cuLaunchKernel", "--steps 1"), 4,
        "Op 'embedding embedding' could not be launched: cuLaunchKernel failed");
  check(run("FAKE_CUBLAS_FAILS=cublasLtMatmul", "--steps 1"), 4,
        "Op 'linear block0.qkv' could not be launched: cublasLtMatmul failed with status 15");
  check(run("FAKE_CUBLAS_FAILS=cublasLtMatmulAlgoGetHeuristic", "--steps 1"), 4,
        "Op 'block0.qkv' (linear) on the cuda device: cuBLASLt knows no algorithm");
  check(run("FAKE_CUDA_FAILS=cuMemAlloc", "--steps 1"), 4, "Out of memory: the GPU has no");
}

TEST_CASE("work that fails later is told with the ops that it may be") {
  if (!emulated()) return;
  check(run("FAKE_CUDA_FAILS=cuEventSynchronize", "--steps 4"), 4,
        "An op from 'embedding embedding' to 'update_scale end of step' failed on the GPU: "
        "cuEventSynchronize failed");
  check(run("FAKE_CUDA_FAILS=cuStreamSynchronize", "--steps 1 --sync op"), 4,
        "failed: CUDA_ERROR_OUT_OF_MEMORY");
}

TEST_CASE("a step allocates nothing and waits for nothing but an earlier step's end") {
  if (!emulated()) return;
  const std::vector<std::string> few = calls_of(4);
  const std::vector<std::string> many = calls_of(10);
  auto more = [&](const char* name) {
    return std::ranges::count(many, name) - std::ranges::count(few, name);
  };
  for (const char* name : {"cuMemAlloc", "cuMemHostAlloc", "cuMemFree", "cuEventCreate",
                           "cuStreamSynchronize", "cuCtxSynchronize", "cuModuleGetFunction",
                           "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemsetD8Async"}) {
    CAPTURE(name);
    CHECK(more(name) == 0);
  }
  CHECK(more("cuEventSynchronize") <= 6);
  CHECK(more("cuMemcpyHtoDAsync") == 6 * 2);  // tokens and labels
  CHECK(more("cuMemcpyDtoHAsync") == 6);      // figures
}

TEST_CASE("under the raw allocator each step allocates and frees, and gives all back") {
  if (!emulated()) return;
  const std::vector<std::string> few = calls_of(4, " --allocator raw");
  const std::vector<std::string> many = calls_of(10, " --allocator raw");
  auto more = [&](const char* name) {
    return std::ranges::count(many, name) - std::ranges::count(few, name);
  };
  CHECK(more("cuMemAlloc") > 6 * 20);
  CHECK(more("cuMemAlloc") == more("cuMemFree"));
  CHECK(std::ranges::count(many, "cuMemAlloc") == std::ranges::count(many, "cuMemFree"));
  for (const char* name : {"cuMemHostAlloc", "cuEventCreate", "cuStreamSynchronize",
                           "cuCtxSynchronize", "cuMemcpyHtoD", "cuMemsetD8Async"}) {
    CAPTURE(name);
    CHECK(more(name) == 0);
  }
}

TEST_CASE("memory that runs out within a step is said with the op that wanted it") {
  if (!emulated()) return;
  // As many succeed as a run without steps makes, and some in the first step.
  const auto before =
      std::ranges::count(calls_of(1, " --allocator caching"), std::string("cuMemAlloc"));
  const std::string fails = "FAKE_CUDA_FAILS=cuMemAlloc:" + std::to_string(before + 5);
  check(run(fails, "--steps 2"), 0, "2 steps");
  const test::Outcome outcome = run(fails, "--steps 2 --allocator raw");
  check(outcome, 4, "Before op '");
  check(outcome, 4, "Out of memory: the GPU has no");
}

TEST_CASE("a step of CUDA graphs is a launch for each phase") {
  if (!emulated()) return;
  const std::vector<std::string> few = calls_of(4, " --cuda-graph on --dropout 0");
  const std::vector<std::string> many = calls_of(10, " --cuda-graph on --dropout 0");
  auto more = [&](const char* name) {
    return std::ranges::count(many, name) - std::ranges::count(few, name);
  };
  CHECK(more("cuGraphLaunch") == 6 * 3);
  for (const char* name : {"cuLaunchKernel", "cuGraphInstantiate", "cuStreamBeginCapture",
                           "cuGraphExecKernelNodeSetParams"}) {
    CAPTURE(name);
    CHECK(more(name) == 0);
  }
}

}  // namespace headway
