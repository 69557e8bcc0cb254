// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <span>

#include "kernels/cuda/code_compiler.h"
#include "kernels/cuda/driver/context.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

/// The kernels of this folder on one GPU, and those of generated code. The image of a file is
/// loaded when one of its kernels is first launched. For one thread, with the context current.
/// Throws errors of the driver (Error, internal).
class KernelLibrary {
 public:
  /// `compiler`: for generated code; needed only where launches have such code. Throws Error when
  /// this program was built without kernels.
  explicit KernelLibrary(const headway::cuda::Context& context,
                         std::unique_ptr<const CodeCompiler> compiler = nullptr);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  const Limits& limits() const { return limits_; }
  /// Whether launches may have generated code.
  bool compiles() const { return compiler_ != nullptr; }
  /// Loads (and, for generated code, compiles) the kernel of the launch, so that the first launch
  /// takes no longer than others.
  CUfunction function(const Launch& launch);
  /// Queues the launch on the stream. The driver copies the parameters before this returns.
  void run(CUstream stream, const Launch& launch);
  void run(CUstream stream, const Launches& launches);
  /// The same without a look-up: `kernel` is the result of function().
  void run(CUstream stream, CUfunction kernel, const Launch& launch);

 private:
  CUmodule module_of(const Launch& launch);

  const headway::cuda::Driver& driver_;
  Limits limits_;
  std::unique_ptr<const CodeCompiler> compiler_;
  std::map<std::string, CUmodule, std::less<>> modules_;  ///< by image, or kernel of generated code
  std::map<std::string, CUfunction, std::less<>> functions_;
};

/// A fatbin: machine code for sm_80, sm_90 and sm_100, and PTX for newer GPUs.
struct KernelImage {
  const char* name;  ///< "add", of add.cu
  const std::byte* data;
};
/// All kernel images; empty in a build without nvcc, or without a GPU.
std::span<const KernelImage> kernel_images();

}  // namespace headway::kernels::cuda
