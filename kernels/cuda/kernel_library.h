// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <span>

#include "cuda/context.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

/// The kernels of this folder on one GPU. A file's image is loaded when one of its kernels is first launched.
/// For one thread, with the context current. Errors of the driver are thrown (Error, internal).
class KernelLibrary {
 public:
  /// Throws Error when this program was built without nvcc and so has no kernels.
  explicit KernelLibrary(const headway::cuda::Context& context);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  const Limits& limits() const { return limits_; }
  /// Loads what the launch needs, so that the first launch takes no longer than others.
  CUfunction function(const Launch& launch);
  /// Queues the launch on the stream. The driver copies the parameters before this returns.
  void run(CUstream stream, const Launch& launch);
  void run(CUstream stream, const Launches& launches);
  /// The same without looking for the kernel, which function() gave.
  void run(CUstream stream, CUfunction kernel, const Launch& launch);

 private:
  const headway::cuda::Driver& driver_;
  Limits limits_;
  std::map<std::string, CUmodule, std::less<>> modules_;
  std::map<std::string, CUfunction, std::less<>> functions_;
};

/// A fatbin: machine code for sm_80, sm_90 and sm_100, and PTX for what comes after.
struct KernelImage {
  const char* name;  ///< "add", of add.cu
  const std::byte* data;
};
/// All of them; empty in a build without nvcc.
std::span<const KernelImage> kernel_images();

}  // namespace headway::kernels::cuda
