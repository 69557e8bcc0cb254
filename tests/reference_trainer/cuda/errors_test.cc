// SPDX-License-Identifier: MIT
// headway-train --device cuda as a user starts it: without a GPU, with one that refuses, and what a step does.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
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

/// The same libraries, that folder beside the programs before them.
std::string library_path(const std::string& folder) {
  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return (programs / folder).string() + ":" + std::getenv("LD_LIBRARY_PATH");
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
  check(run("", "--steps 1 --cuda-graph on --allocator raw"), 2, "cuda_graph: memory");
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

TEST_CASE(
    "code that does not compile names the op and the way around that is taken without a compiler") {
  if (!emulated()) return;
  const std::string dropout = "--steps 1 --dropout 0.5";
  const test::Outcome refused = run("FAKE_NVRTC_FAILS=1", dropout);
  check(refused, 4,
        "Op 'block0.attention.dropout' (dropout) on the cuda device: NVRTC 13.0 cannot compile");
  check(refused, 4, "error: refused by FAKE_NVRTC_FAILS");
  check(refused, 4, "Use --graph-compiler interpreted");
  check(run("FAKE_NVRTC_FAILS=1", dropout + " --graph-compiler interpreted"), 0, "1 steps, ");
  const std::string note = "\nelementwise ops are interpreted, not compiled: ";
  check(run("FAKE_NVRTC_ARCHITECTURES=100", dropout), 0,
        note + "NVRTC 13.0 does not compile for GPUs of compute capability 9.0");
  check(run("FAKE_CUDA_VERSION=11080", dropout), 0,
        note + "NVRTC needs a driver of CUDA 12 or newer");
  check(run("LD_LIBRARY_PATH='" + library_path("targets/nvrtc_old") + "'", dropout), 0,
        note + "libnvrtc.so.13 lacks functions");
  if (!::dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL))
    check(run("FAKE_CUDA_VERSION=12080", dropout), 0,
          note + "NVRTC 12 is not found: add the folder of libnvrtc.so");
  CHECK(run("", dropout).output.find("interpreted") == std::string::npos);
}

TEST_CASE(
    "a program is compiled once, for this GPU, or as PTX for one that the compiler does not know") {
  if (!emulated()) return;
  const test::TemporaryFolder folder;
  const std::string file = folder / "compiled";
  auto compiled = [&](const std::string& environment, const std::string& switches) {
    std::filesystem::remove(file);
    CHECK(run("FAKE_NVRTC_CALLS='" + file + "' " + environment, "--steps 2 --layers 3 " + switches)
              .status == 0);
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  const auto programs = compiled("", "--fused-ln off --fused-bias-act off");
  CHECK(programs.size() > 4);
  CHECK(std::set(programs.begin(), programs.end()).size() == programs.size());
  for (const std::string& line : programs)
    CHECK(line.find(" --gpu-architecture=sm_90 ") != std::string::npos);
  const auto older = compiled("FAKE_NVRTC_ARCHITECTURES=80", "");
  REQUIRE(!older.empty());
  CHECK(older[0].find(" --gpu-architecture=compute_80 ") != std::string::npos);
  CHECK(compiled("", "--graph-compiler interpreted").empty());
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
