// SPDX-License-Identifier: MIT
// A libcuda.so.1 for machines without a driver. "Device memory" is the host's, between pages that nobody may touch;
// kernels are those of kernels/, run on the processor (emulator.h) before the launch returns; a module's
// image is not looked at, unless it is a library that fake_nvrtc.cc has made of generated code. With FAKE_CUDA_LAZY=1 work
// waits until something needs it (streams.h). FAKE_CUDA_FAILS=cuMemAlloc fails that call with "out of memory",
// FAKE_CUDA_FAILS=cuMemAlloc:9 after nine that did not fail; what was freed nobody may touch again, and its addresses do not come again;
// FAKE_CUDA_ANY_KERNEL=1 finds every kernel: those that it does not have do nothing (for images that NVRTC itself has made);
// FAKE_CUDA_DEVICES=0 shows no GPU; FAKE_CUDA_CALLS=FILE keeps the names of all calls.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/targets/fake_cuda/emulator_kernel.h"
#include "tests/targets/fake_cuda/generated_image.h"
#include "tests/targets/fake_cuda/run_kernel.h"
#include "tests/targets/fake_cuda/streams.h"

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

using emulator::Event;
using emulator::g_mutex;
using emulator::Graph;
using emulator::Node;
using emulator::Stream;

constexpr std::size_t kPage = 4096;
constexpr int kMultiprocessors =
    4;  // few, so that grids are limited and threads take several pieces

struct Block {
  char* mapping;
  std::size_t mapping_bytes;
  std::size_t bytes;
};
std::map<CUdeviceptr, Block> g_blocks;

/// Notes the call; false when it is to fail.
bool called(const char* name) {
  static const char* const file = std::getenv("FAKE_CUDA_CALLS");
  static const std::string fails =
      std::getenv("FAKE_CUDA_FAILS") ? std::getenv("FAKE_CUDA_FAILS") : "";
  static const std::size_t colon = fails.find(':');
  static int left = colon == std::string::npos ? 0 : std::atoi(fails.c_str() + colon + 1);
  if (file) {
    if (std::FILE* out = std::fopen(file, "a")) {
      std::fprintf(out, "%s\n", name);
      std::fclose(out);
    }
  }
  return fails.compare(0, colon, name) != 0 || left-- > 0;
}
#define CALLED(name)                    \
  const std::scoped_lock lock(g_mutex); \
  if (!called(name)) return CUDA_ERROR_OUT_OF_MEMORY

/// The end of the block lies at a page's end, as far as 16 bytes allow.
CUresult allocate(CUdeviceptr* address, std::size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t padded = (bytes + 15) / 16 * 16;
  const std::size_t body = (padded + kPage - 1) / kPage * kPage;
  void* mapping = ::mmap(nullptr, body + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  char* first = static_cast<char*>(mapping) + kPage;
  if (::mprotect(first, body, PROT_READ | PROT_WRITE) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memset(first, 0xFF, body);  // NaN, as a float
  *address = reinterpret_cast<CUdeviceptr>(first + body - padded);
  g_blocks[*address] = {static_cast<char*>(mapping), body + 2 * kPage, bytes};
  return CUDA_SUCCESS;
}

bool inside(CUdeviceptr address, std::size_t bytes) {
  auto after = g_blocks.upper_bound(address);
  if (after == g_blocks.begin()) return false;
  const auto& [begin, block] = *--after;
  return address + bytes <= begin + block.bytes;
}

CUresult copy(void* to, const void* from, std::size_t bytes, CUdeviceptr device) {
  if (!inside(device, bytes)) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(to, from, bytes);
  return CUDA_SUCCESS;
}

std::map<const void*, std::size_t> g_pinned;
bool pinned(const void* address) {
  auto after = g_pinned.upper_bound(address);
  if (after == g_pinned.begin()) return false;
  --after;
  return static_cast<const char*>(address) < static_cast<const char*>(after->first) + after->second;
}
Stream* stream_of(CUstream stream) {
  return reinterpret_cast<Stream*>(stream);
}

/// Calls that wait, or free, are not for the time of a capture.
#define NOT_CAPTURING() \
  if (emulator::capturing()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED

template <class T>
T* as(CUdeviceptr address) {
  return reinterpret_cast<T*>(address);
}
template <class Handle>
Handle handle() {
  static std::uintptr_t next = 0;
  return reinterpret_cast<Handle>(++next);
}

}  // namespace

FAKE CUresult cuInit(unsigned) {
  CALLED("cuInit");
  return CUDA_SUCCESS;
}
FAKE CUresult cuDriverGetVersion(int* version) {
  const char* wanted = std::getenv("FAKE_CUDA_VERSION");
  *version = wanted ? std::atoi(wanted) : 13000;
  return CUDA_SUCCESS;
}
FAKE CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE";
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceGetCount(int* count) {
  const char* wanted = std::getenv("FAKE_CUDA_DEVICES");
  *count = wanted ? std::atoi(wanted) : 1;
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "Emulated GPU");
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{1} << 30;
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  *value = which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT       ? kMultiprocessors
           : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
           : which == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE            ? 1 << 20
           : which == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID               ? device
                                                                   : 0;
  return CUDA_SUCCESS;
}
FAKE CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  CALLED("cuDevicePrimaryCtxRetain");
  *context = handle<CUcontext>();
  return CUDA_SUCCESS;
}
FAKE CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  CALLED("cuDevicePrimaryCtxRelease");
  return CUDA_SUCCESS;
}
FAKE CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice, unsigned) {
  CALLED("cuDevicePrimaryCtxSetFlags");
  return CUDA_SUCCESS;
}
FAKE CUresult cuCtxSetCurrent(CUcontext) {
  return CUDA_SUCCESS;
}
FAKE CUresult cuCtxSynchronize() {
  CALLED("cuCtxSynchronize");
  NOT_CAPTURING();
  emulator::run_all();
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamCreate(CUstream* stream, unsigned) {
  CALLED("cuStreamCreate");
  *stream = reinterpret_cast<CUstream>(emulator::make_stream());
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamDestroy_v2(CUstream stream) {
  CALLED("cuStreamDestroy");
  emulator::drop_stream(stream_of(stream));
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamSynchronize(CUstream stream) {
  CALLED("cuStreamSynchronize");
  NOT_CAPTURING();
  emulator::run_until(emulator::end_of(stream_of(stream)));
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  CALLED("cuStreamWaitEvent");
  emulator::queue_wait(stream_of(stream), reinterpret_cast<Event*>(event)->point);
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventCreate(CUevent* event, unsigned) {
  CALLED("cuEventCreate");
  *event = reinterpret_cast<CUevent>(new Event);
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventDestroy_v2(CUevent event) {
  CALLED("cuEventDestroy");
  delete reinterpret_cast<Event*>(event);
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventRecord(CUevent event, CUstream stream) {
  CALLED("cuEventRecord");
  *reinterpret_cast<Event*>(event) = {emulator::end_of(stream_of(stream)),
                                      std::chrono::steady_clock::now()};
  return CUDA_SUCCESS;
}
/// Who asks again and again gets there: some work goes on meanwhile.
FAKE CUresult cuEventQuery(CUevent event) {
  const std::scoped_lock lock(g_mutex);
  const emulator::Point& point = reinterpret_cast<Event*>(event)->point;
  if (emulator::passed(point)) return CUDA_SUCCESS;
  emulator::run_some(*point.stream);
  return CUDA_ERROR_NOT_READY;
}
FAKE CUresult cuEventSynchronize(CUevent event) {
  CALLED("cuEventSynchronize");
  NOT_CAPTURING();
  emulator::run_until(reinterpret_cast<Event*>(event)->point);
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  const auto& from = reinterpret_cast<Event*>(begin)->time;
  const auto& to = reinterpret_cast<Event*>(end)->time;
  *milliseconds = std::chrono::duration<float, std::milli>(to - from).count();
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  CALLED("cuMemAlloc");
  NOT_CAPTURING();
  return allocate(address, bytes);
}
FAKE CUresult cuMemFree_v2(CUdeviceptr address) {
  CALLED("cuMemFree");
  NOT_CAPTURING();
  emulator::run_all();
  const auto found = g_blocks.find(address);
  if (found == g_blocks.end()) return CUDA_ERROR_INVALID_VALUE;
  // Kept as it is, without its memory.
  ::mmap(found->second.mapping, found->second.mapping_bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  g_blocks.erase(found);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* all) {
  *all = std::size_t{1} << 30;
  *free = *all / 2;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  CALLED("cuMemHostAlloc");
  *address = std::malloc(bytes);
  g_pinned[*address] = bytes;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemFreeHost(void* address) {
  CALLED("cuMemFreeHost");
  g_pinned.erase(address);
  std::free(address);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  CALLED("cuMemcpyHtoD");
  return copy(as<void>(to), from, bytes, to);
}
/// From pageable memory the source is read before the call returns; from pinned memory, when the stream gets there.
FAKE CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                   CUstream stream) {
  CALLED("cuMemcpyHtoDAsync");
  if (!inside(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (pinned(from)) {
    emulator::queue_work(stream_of(stream), [=] { std::memcpy(as<void>(to), from, bytes); });
  } else {
    const std::string staged(static_cast<const char*>(from), bytes);
    emulator::queue_work(stream_of(stream),
                         [=] { std::memcpy(as<void>(to), staged.data(), bytes); });
  }
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  CALLED("cuMemcpyDtoH");
  return copy(to, as<void>(from), bytes, from);
}
/// To pageable memory the copy is done when the call returns.
FAKE CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  CALLED("cuMemcpyDtoHAsync");
  if (!inside(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  emulator::queue_work(stream_of(stream), [=] { std::memcpy(to, as<void>(from), bytes); });
  if (!pinned(to)) emulator::run_until(emulator::end_of(stream_of(stream)));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                   CUstream stream) {
  CALLED("cuMemcpyDtoDAsync");
  if (!inside(from, bytes) || !inside(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
  emulator::queue_work(stream_of(stream),
                       [=] { std::memcpy(as<void>(to), as<void>(from), bytes); });
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes,
                              CUstream stream) {
  CALLED("cuMemsetD8Async");
  if (!inside(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
  emulator::queue_work(stream_of(stream), [=] { std::memset(as<void>(to), value, bytes); });
  return CUDA_SUCCESS;
}
FAKE CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  CALLED("cuModuleLoadData");
  if (!image) return CUDA_ERROR_INVALID_IMAGE;
  // Its kernels join the list, and stay in it.
  if (const char* library = emulator::generated_library(static_cast<const char*>(image));
      library && !::dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
    std::fprintf(stderr, "fake CUDA: %s\n", ::dlerror());
    return CUDA_ERROR_INVALID_IMAGE;
  }
  *module = handle<CUmodule>();
  return CUDA_SUCCESS;
}
/// NVRTC asks for a table of the driver's own, and does without it.
FAKE CUresult cuGetExportTable(const void** table, const CUuuid*) {
  *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}
FAKE CUresult cuModuleUnload(CUmodule) {
  CALLED("cuModuleUnload");
  return CUDA_SUCCESS;
}
FAKE CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  CALLED("cuModuleGetFunction");
  const emulator::Kernel* kernel = emulator::find_kernel(name);
  static const emulator::Kernel any("any", 1024, 0, [](const void*) {});
  if (!kernel && std::getenv("FAKE_CUDA_ANY_KERNEL")) kernel = &any;
  if (!kernel) return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(const_cast<emulator::Kernel*>(kernel));
  return CUDA_SUCCESS;
}
/// What the attribute allows a kernel to ask for.
static std::map<const void*, std::size_t> g_shared;

FAKE CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  CALLED("cuFuncSetAttribute");
  if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
      static_cast<std::size_t>(value) > emulator::kMostShared)
    return CUDA_ERROR_INVALID_VALUE;
  g_shared[function] = static_cast<std::size_t>(value);
  return CUDA_SUCCESS;
}
FAKE CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned threads, unsigned threads_y, unsigned threads_z,
                             unsigned shared_bytes, CUstream stream, void** parameters,
                             void** extra) {
  CALLED("cuLaunchKernel");
  const auto& kernel = *reinterpret_cast<const emulator::Kernel*>(function);
  const bool fits = grid_x > 0 && grid_x < 1U << 31 && grid_y > 0 && grid_y < 1U << 16 &&
                    grid_z > 0 && grid_z < 1U << 16 && threads > 0 && threads <= kernel.threads &&
                    threads_y == 1 && threads_z == 1 &&
                    shared_bytes <= std::max(g_shared[function], emulator::kPlainShared) && !extra;
  if (!fits) {
    std::fprintf(stderr,
                 "fake CUDA: launch of %s with grid %u,%u,%u, %u threads and %u bytes refused\n",
                 kernel.name, grid_x, grid_y, grid_z, threads, shared_bytes);
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Kept as the driver keeps them: the caller may reuse its memory at once.
  emulator::queue_launch(stream_of(stream), {&kernel,
                                             {grid_x, grid_y, grid_z},
                                             threads,
                                             shared_bytes,
                                             std::string(static_cast<const char*>(parameters[0]),
                                                         kernel.parameter_bytes)});
  return CUDA_SUCCESS;
}

FAKE CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  CALLED("cuLaunchHostFunc");
  if (stream_of(stream)->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  emulator::queue_host_function(stream_of(stream), [=] { function(data); });
  return CUDA_SUCCESS;
}

// Graphs.
FAKE CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode) {
  CALLED("cuStreamBeginCapture");
  NOT_CAPTURING();
  stream_of(stream)->capture = new Graph;
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*,
                                        CUgraph* graph, const CUgraphNode** before,
                                        std::size_t* count) {
  CALLED("cuStreamGetCaptureInfo");
  static CUgraphNode last;
  Graph* captured = stream_of(stream)->capture;
  *status = captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  if (!captured) return CUDA_SUCCESS;
  if (graph) *graph = reinterpret_cast<CUgraph>(captured);
  *count = captured->nodes.empty() ? 0 : 1;
  if (*count) last = reinterpret_cast<CUgraphNode>(captured->nodes.back().get());
  *before = &last;
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  CALLED("cuStreamEndCapture");
  *graph = reinterpret_cast<CUgraph>(stream_of(stream)->capture);
  stream_of(stream)->capture = nullptr;
  return *graph ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}
FAKE CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                          unsigned long long) {
  CALLED("cuGraphInstantiate");
  auto made = std::make_unique<Graph>();
  for (const auto& node : reinterpret_cast<Graph*>(graph)->nodes)
    made->nodes.push_back(std::make_unique<Node>(Node{node->launch, node->other, node.get()}));
  *executable = reinterpret_cast<CUgraphExec>(made.release());
  return CUDA_SUCCESS;
}
#undef cuGraphExecKernelNodeSetParams  // the first version, which every driver has
FAKE CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                             const CUDA_KERNEL_NODE_PARAMS_v1* by) {
  CALLED("cuGraphExecKernelNodeSetParams");
  for (const auto& one : reinterpret_cast<Graph*>(executable)->nodes) {
    if (one->made_from != reinterpret_cast<Node*>(node)) continue;
    auto& launch = one->launch;
    if (one->other || reinterpret_cast<const emulator::Kernel*>(by->func) != launch.kernel)
      return CUDA_ERROR_INVALID_VALUE;
    launch.grid[0] = by->gridDimX;
    launch.grid[1] = by->gridDimY;
    launch.grid[2] = by->gridDimZ;
    launch.threads = by->blockDimX;
    launch.shared_bytes = by->sharedMemBytes;
    launch.parameters.assign(static_cast<const char*>(by->kernelParams[0]),
                             launch.kernel->parameter_bytes);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}
FAKE CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  CALLED("cuGraphLaunch");
  for (const auto& node : reinterpret_cast<Graph*>(executable)->nodes) {
    if (node->other)
      emulator::queue_work(stream_of(stream), node->other);
    else
      emulator::queue_launch(stream_of(stream), node->launch);
  }
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphExecDestroy(CUgraphExec executable) {
  CALLED("cuGraphExecDestroy");
  delete reinterpret_cast<Graph*>(executable);
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphDestroy(CUgraph graph) {
  CALLED("cuGraphDestroy");
  delete reinterpret_cast<Graph*>(graph);
  return CUDA_SUCCESS;
}

/// For the libraries beside the driver: work on a stream.
FAKE void fake_cuda_queue(CUstream stream, void (*work)(void*), void* argument) {
  const std::scoped_lock lock(g_mutex);
  emulator::queue_work(stream_of(stream), [=] { work(argument); });
}
