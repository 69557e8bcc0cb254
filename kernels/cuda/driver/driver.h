// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <memory>
#include <string>

namespace headway::cuda {

/// The driver's functions that Headway uses: declared in cuda.h and found at run time, so that the
/// program also runs without a driver.
#define HEADWAY_DRIVER_FUNCTIONS(_) \
  _(cuInit)                         \
  _(cuDriverGetVersion)             \
  _(cuGetErrorName)                 \
  _(cuDeviceGetCount)               \
  _(cuDeviceGet)                    \
  _(cuDeviceGetName)                \
  _(cuDeviceTotalMem)               \
  _(cuDeviceGetAttribute)           \
  _(cuDevicePrimaryCtxRetain)       \
  _(cuDevicePrimaryCtxRelease)      \
  _(cuDevicePrimaryCtxSetFlags)     \
  _(cuCtxSetCurrent)                \
  _(cuCtxSynchronize)               \
  _(cuStreamCreate)                 \
  _(cuStreamDestroy)                \
  _(cuStreamSynchronize)            \
  _(cuStreamWaitEvent)              \
  _(cuEventCreate)                  \
  _(cuEventDestroy)                 \
  _(cuEventRecord)                  \
  _(cuEventQuery)                   \
  _(cuEventSynchronize)             \
  _(cuEventElapsedTime)             \
  _(cuMemAlloc)                     \
  _(cuMemFree)                      \
  _(cuMemGetInfo)                   \
  _(cuMemHostAlloc)                 \
  _(cuMemFreeHost)                  \
  _(cuMemcpyHtoD)                   \
  _(cuMemcpyDtoH)                   \
  _(cuMemcpyHtoDAsync)              \
  _(cuMemcpyDtoHAsync)              \
  _(cuMemcpyDtoDAsync)              \
  _(cuMemsetD8Async)                \
  _(cuModuleLoadData)               \
  _(cuModuleUnload)                 \
  _(cuModuleGetFunction)            \
  _(cuFuncSetAttribute)             \
  _(cuLaunchKernel)                 \
  _(cuLaunchHostFunc)

/// Functions of CUDA graphs: null where the driver is older than CUDA 11.3, or 11.4 for the
/// instantiation. Two types are declared here, because cuda.h renames the functions to versions
/// that older drivers lack.
using CaptureInfo = CUresult(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                             const CUgraphNode**, std::size_t*);
using SetKernelParameters = CUresult(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1*);
struct GraphFunctions {
  decltype(&::cuStreamBeginCapture) begin_capture = nullptr;
  decltype(&::cuStreamEndCapture) end_capture = nullptr;
  CaptureInfo* capture_info = nullptr;
  decltype(&::cuGraphInstantiateWithFlags) instantiate = nullptr;
  SetKernelParameters* set_kernel_parameters = nullptr;
  decltype(&::cuGraphLaunch) launch = nullptr;
  decltype(&::cuGraphExecDestroy) destroy_executable = nullptr;
  decltype(&::cuGraphDestroy) destroy = nullptr;
  bool complete = false;  ///< all were found: CUDA graphs can be used
};

struct Driver {
#define HEADWAY_DECLARE(name) decltype(&::name) name##_ = nullptr;
  HEADWAY_DRIVER_FUNCTIONS(HEADWAY_DECLARE)
#undef HEADWAY_DECLARE
  GraphFunctions graphs;  ///< null where the driver is too old
  int version = 0;        ///< 13000: CUDA 13.0

  /// Throws Error(kInternal) naming the call and the driver's error.
  void check(CUresult result, const char* call) const;
};

/// Loads and starts the driver. Returns null, with the reason in `why`, when there is no driver or
/// no GPU.
std::unique_ptr<Driver> load_driver(std::string& why);

}  // namespace headway::cuda

// Calls a function of the driver `d` and throws when it fails.
#define HEADWAY_CU(d, name, ...) (d).check((d).name##_(__VA_ARGS__), #name)
