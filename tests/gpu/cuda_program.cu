// SPDX-License-Identifier: MIT
// A CUDA program that does a known number of everything Headway records, for scripts/gpu_check.sh.
// Usage: cuda_program steps N | graph N | kill N | launches N | train N [sync] [pageable] [small] [one-graph]
//   steps     N steps: a set, a copy to the device, three kernels, an event that a second stream waits
//             for before a fourth, a copy back, a wait for both streams
//   graph     the three kernels as a CUDA graph, N launches
//   kill      as steps, then SIGKILL while a long kernel runs
//   train     N steps of a copy to the device and 40 kernels, the loss read back two steps later; with
//             `sync` the host waits after every kernel, with `pageable` the copy is from pageable memory, with
//             `small` kernels take a few µs, with `one-graph` all of a step but the copy is one CUDA graph
//   launches  N empty kernels, and what one launch took: `launch_ns: …`
// Exit code 77: there is no usable CUDA device.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kNoDevice = 77;
constexpr std::size_t kValues = std::size_t{1} << 20;

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "cuda_program: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(result == cudaErrorNoDevice || result == cudaErrorInsufficientDriver ? kNoDevice : 1);
}
#define CHECK(call) check(call, #call)

template <int kFactor>
__global__ void scale(float* values, std::size_t count) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= kFactor;
}

__global__ void add(float* to, const float* from, std::size_t count) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) to[i] += from[i];
}

__global__ void empty() {}

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

struct Work {
  cudaStream_t compute{};
  cudaStream_t other{};
  cudaEvent_t ready{};
  float* host{};
  float* a{};
  float* b{};

  Work() {
    CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CHECK(cudaMallocHost(&host, kValues * sizeof *host));
    CHECK(cudaMalloc(&a, kValues * sizeof *a));
    CHECK(cudaMalloc(&b, kValues * sizeof *b));
    for (std::size_t i = 0; i < kValues; ++i) host[i] = static_cast<float>(i % 1000) / 1000;
  }
  void kernels() const {
    const unsigned blocks = kValues / 256;
    scale<2><<<blocks, 256, 0, compute>>>(a, kValues);
    scale<3><<<blocks, 256, 0, compute>>>(b, kValues);
    add<<<blocks, 256, 0, compute>>>(b, a, kValues);
    CHECK(cudaGetLastError());
  }
  void step(int number) const {
    nvtxRangePushA(("step " + std::to_string(number)).c_str());
    CHECK(cudaMemsetAsync(b, 0, kValues * sizeof *b, compute));
    CHECK(cudaMemcpyAsync(a, host, kValues * sizeof *a, cudaMemcpyHostToDevice, compute));
    kernels();
    CHECK(cudaEventRecord(ready, compute));
    CHECK(cudaStreamWaitEvent(other, ready, 0));
    add<<<kValues / 256, 256, 0, other>>>(a, b, kValues);
    CHECK(cudaMemcpyAsync(host, a, kValues * sizeof *a, cudaMemcpyDeviceToHost, other));
    CHECK(cudaStreamSynchronize(compute));
    CHECK(cudaStreamSynchronize(other));
    nvtxRangePop();
  }
};

void graph_launches(const Work& work, int count) {
  cudaGraph_t graph{};
  cudaGraphExec_t executable{};
  CHECK(cudaStreamBeginCapture(work.compute, cudaStreamCaptureModeThreadLocal));
  work.kernels();
  CHECK(cudaStreamEndCapture(work.compute, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA(("step " + std::to_string(i)).c_str());
    CHECK(cudaGraphLaunch(executable, work.compute));
    CHECK(cudaStreamSynchronize(work.compute));
    nvtxRangePop();
  }
}

void launches(int count) {
  using Clock = std::chrono::steady_clock;
  // Fewer than a stream's queue holds, so that a launch never waits for the device.
  constexpr int kBatch = 500;
  std::vector<double> batches;
  for (int done = 0; done < count; done += kBatch) {
    auto begin = Clock::now();
    for (int i = 0; i < kBatch; ++i) empty<<<1, 1>>>();
    batches.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
    CHECK(cudaDeviceSynchronize());
  }
  double best = batches.front();
  double sum = 0;
  for (double batch : batches) {
    best = batch < best ? batch : best;
    sum += batch;
  }
  std::printf("launch_ns: %.0f mean, %.0f least\n",
              sum / static_cast<double>(batches.size()) / kBatch, best / kBatch);
}

/// What a step of `train` does differently.
struct Switches {
  bool sync = false;
  bool pageable = false;
  bool small = false;
  bool one_graph = false;
};

class Training {
 public:
  explicit Training(Switches switches) : switches_(switches) {
    CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&batch_, kBatch * sizeof *batch_));
    CHECK(cudaMalloc(&values_, kBatch * sizeof *values_));
    if (switches.pageable) {
      host_ = static_cast<float*>(std::malloc(kBatch * sizeof *host_));
    } else {
      CHECK(cudaMallocHost(&host_, kBatch * sizeof *host_));
    }
    for (std::size_t i = 0; i < kBatch; ++i) host_[i] = static_cast<float>(i % 1000) / 1000;
    for (Loss& loss : losses_) {
      CHECK(cudaMallocHost(&loss.value, sizeof *loss.value));
      CHECK(cudaEventCreateWithFlags(&loss.there, cudaEventDisableTiming));
    }
    if (!switches.one_graph) return;
    CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    kernels();
    cudaGraph_t graph{};
    CHECK(cudaStreamEndCapture(stream_, &graph));
    CHECK(cudaGraphInstantiate(&graph_, graph, 0));
  }
  void step(int number) {
    Loss& loss = losses_[number % 2];
    nvtxRangePushA(("step " + std::to_string(number)).c_str());
    if (number >= 2) CHECK(cudaEventSynchronize(loss.there));
    CHECK(cudaMemcpyAsync(batch_, host_, kBatch * sizeof *batch_, cudaMemcpyHostToDevice, stream_));
    if (graph_) {
      CHECK(cudaGraphLaunch(graph_, stream_));
    } else {
      kernels();
    }
    CHECK(
        cudaMemcpyAsync(loss.value, values_, sizeof *loss.value, cudaMemcpyDeviceToHost, stream_));
    CHECK(cudaEventRecord(loss.there, stream_));
    nvtxRangePop();
  }

 private:
  static constexpr std::size_t kBatch = std::size_t{4} << 20;
  static constexpr int kKernels = 40;
  struct Loss {
    float* value{};
    cudaEvent_t there{};
  };
  void kernels() const {
    const std::size_t count = switches_.small ? kBatch / 64 : kBatch;
    for (int i = 0; i < kKernels; ++i) {
      add<<<static_cast<unsigned>(count / 256), 256, 0, stream_>>>(values_, batch_, count);
      if (switches_.sync) CHECK(cudaStreamSynchronize(stream_));
    }
    CHECK(cudaGetLastError());
  }

  Switches switches_;
  cudaStream_t stream_{};
  cudaGraphExec_t graph_{};
  float* host_{};
  float* batch_{};
  float* values_{};
  Loss losses_[2];
};

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  Switches switches;
  bool known = argc == 3 || what == "train";
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "sync") {
      switches.sync = true;
    } else if (word == "pageable") {
      switches.pageable = true;
    } else if (word == "small") {
      switches.small = true;
    } else if (word == "one-graph") {
      switches.one_graph = true;
    } else {
      known = false;
    }
  }
  if (!known) {
    std::fprintf(stderr,
                 "usage: cuda_program steps|graph|kill|launches|train N [sync] [pageable] [small] "
                 "[one-graph]\n");
    return 2;
  }
  const int count = std::atoi(argv[2]);
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  if (devices == 0) return kNoDevice;
  CHECK(cudaFree(nullptr));
  if (what == "launches") {
    launches(count);
    return 0;
  }
  if (what == "train") {
    Training training(switches);
    for (int i = 0; i < count; ++i) training.step(i);
    CHECK(cudaDeviceSynchronize());
    return 0;
  }
  const Work work;
  if (what == "graph") {
    graph_launches(work, count);
  } else {
    for (int i = 0; i < count; ++i) work.step(i);
  }
  if (what == "kill") {
    spin<<<1, 1, 0, work.compute>>>(2'000'000'000);
    ::usleep(300'000);
    ::kill(::getpid(), SIGKILL);
  }
}
