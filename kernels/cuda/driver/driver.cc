// SPDX-License-Identifier: MIT
#include "kernels/cuda/driver/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <type_traits>

#include "common/error.h"

namespace headway::cuda {
namespace {

// cuda.h renames functions to their newest version (cuMemAlloc is cuMemAlloc_v2), so the name is
// expanded before it is turned into text.
#define HEADWAY_TEXT(name) #name
#define HEADWAY_EXPANDED_TEXT(name) HEADWAY_TEXT(name)

bool find_functions(void* library, Driver& driver, std::string& why) {
  const char* missing = nullptr;
  int count_missing = 0;
#define HEADWAY_FIND(name)                                                                       \
  driver.name##_ =                                                                               \
      reinterpret_cast<decltype(driver.name##_)>(::dlsym(library, HEADWAY_EXPANDED_TEXT(name))); \
  if (!driver.name##_) missing = HEADWAY_EXPANDED_TEXT(name), ++count_missing;
  HEADWAY_DRIVER_FUNCTIONS(HEADWAY_FIND)
#undef HEADWAY_FIND
  // Drivers before 12.8 have only this name, with the same parameters.
  if (!driver.cuEventElapsedTime_) {
    driver.cuEventElapsedTime_ = reinterpret_cast<decltype(driver.cuEventElapsedTime_)>(
        ::dlsym(library, "cuEventElapsedTime"));
    if (driver.cuEventElapsedTime_ && count_missing == 1) missing = nullptr;
  }
  if (missing) why = fmt::format("libcuda.so.1 has no {}: update the driver", missing);
  return !missing;
}

void find_graph_functions(void* library, GraphFunctions& graphs) {
  graphs.complete = true;
  auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
    graphs.complete &= function != nullptr;
  };
  find(graphs.begin_capture, "cuStreamBeginCapture_v2");
  find(graphs.end_capture, "cuStreamEndCapture");
  find(graphs.capture_info, "cuStreamGetCaptureInfo_v2");
  find(graphs.instantiate, "cuGraphInstantiateWithFlags");
  find(graphs.set_kernel_parameters, "cuGraphExecKernelNodeSetParams");
  find(graphs.launch, "cuGraphLaunch");
  find(graphs.destroy_executable, "cuGraphExecDestroy");
  find(graphs.destroy, "cuGraphDestroy");
}

}  // namespace

void Driver::check(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  if (cuGetErrorName_(result, &name) != CUDA_SUCCESS || !name) name = "unknown error";
  fail_internal("{} failed: {} ({})", call, name, static_cast<int>(result));
}

std::unique_ptr<Driver> load_driver(std::string& why) {
  // Never unloaded: the driver runs its own threads.
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    why =
        "libcuda.so.1 is not found: there is no NVIDIA driver, or the container was started "
        "without it";
    return nullptr;
  }
  auto driver = std::make_unique<Driver>();
  if (!find_functions(library, *driver, why)) return nullptr;
  find_graph_functions(library, driver->graphs);
  int count = 0;
  try {
    HEADWAY_CU(*driver, cuInit, 0);
    HEADWAY_CU(*driver, cuDriverGetVersion, &driver->version);
    HEADWAY_CU(*driver, cuDeviceGetCount, &count);
  } catch (const Error& error) {
    why = error.what();
    return nullptr;
  }
  if (count > 0) return driver;
  why = "the driver shows no GPU";
  return nullptr;
}

}  // namespace headway::cuda
