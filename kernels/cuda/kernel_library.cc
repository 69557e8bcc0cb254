// SPDX-License-Identifier: MIT
#include "kernels/cuda/kernel_library.h"

#include <algorithm>
#include <string_view>

#include "common/error.h"

namespace headway::kernels::cuda {

KernelLibrary::KernelLibrary(const headway::cuda::Context& context,
                             std::unique_ptr<const CodeCompiler> compiler)
    : driver_(context.driver()), compiler_(std::move(compiler)) {
  if (kernel_images().empty())
    fail_internal(
        "This Headway was built without CUDA kernels: build it where the CUDA toolkit is (nvcc in "
        "PATH or /usr/local/cuda/bin), with -DHEADWAY_CUDA_ARCHITECTURES=80.");
  limits_.multiprocessors = std::max(1, context.multiprocessors());
  constexpr int kFirstWithLargeParameters = 12010;
  if (driver_.version < kFirstWithLargeParameters) limits_.parameter_bytes = kSmallParameters;
}

/// A failure here follows an earlier one, and a destructor cannot report it.
KernelLibrary::~KernelLibrary() {
  for (const auto& [name, module] : modules_) driver_.cuModuleUnload_(module);
}

CUfunction KernelLibrary::function(const Launch& launch) {
  if (const auto found = functions_.find(launch.kernel); found != functions_.end())
    return found->second;
  CUfunction function = nullptr;
  HEADWAY_CU(driver_, cuModuleGetFunction, &function, module_of(launch), launch.kernel.c_str());
  constexpr unsigned kUnasked = 48 << 10;  // every kernel may have this much without a request
  if (launch.shared_bytes > kUnasked)
    HEADWAY_CU(driver_, cuFuncSetAttribute, function,
               CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
               static_cast<int>(launch.shared_bytes));
  functions_[launch.kernel] = function;
  return function;
}

CUmodule KernelLibrary::module_of(const Launch& launch) {
  const std::string name = launch.code ? launch.kernel : launch.image;
  if (const auto found = modules_.find(name); found != modules_.end()) return found->second;
  CUmodule module = nullptr;
  if (launch.code) {
    if (!compiler_) fail_internal("Kernel {}: there is no compiler for it.", name);
    const std::string image = compiler_->compile(name, *launch.code);
    HEADWAY_CU(driver_, cuModuleLoadData, &module, image.data());
  } else {
    const auto image = std::ranges::find(kernel_images(), std::string_view(name),
                                         [](const KernelImage& i) { return i.name; });
    if (image == kernel_images().end())
      fail_internal("Kernel {}: there is no image '{}'.", launch.kernel, name);
    HEADWAY_CU(driver_, cuModuleLoadData, &module, image->data);
  }
  modules_[name] = module;
  return module;
}

void KernelLibrary::run(CUstream stream, const Launch& launch) {
  run(stream, function(launch), launch);
}

void KernelLibrary::run(CUstream stream, CUfunction kernel, const Launch& launch) {
  void* parameters[] = {const_cast<std::byte*>(launch.parameters.data())};
  HEADWAY_CU(driver_, cuLaunchKernel, kernel, launch.grid.x, launch.grid.y, 1, launch.threads, 1, 1,
             launch.shared_bytes, stream, parameters, nullptr);
}

void KernelLibrary::run(CUstream stream, const Launches& launches) {
  for (const Launch& launch : launches) run(stream, launch);
}

}  // namespace headway::kernels::cuda
