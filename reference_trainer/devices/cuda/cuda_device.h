// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/error.h"
#include "kernels/cuda/driver/context.h"
#include "kernels/cuda/kernel_library.h"
#include "reference_trainer/devices/cuda/open.h"
#include "reference_trainer/devices/cuda/stream.h"
#include "reference_trainer/devices/device.h"

namespace headway::cuda {
class CublasLt;
class Cudnn;
}  // namespace headway::cuda

namespace headway::trainer {

/// The libraries of one GPU that the device's ops launch through. The GPU is made current on the
/// thread that made the device.
struct CudaLibraries {
  std::unique_ptr<const cuda::Driver> driver;
  std::unique_ptr<const cuda::Context> context;
  std::unique_ptr<kernels::cuda::KernelLibrary> kernels;
  std::unique_ptr<const cuda::CublasLt> products;
  std::unique_ptr<const cuda::Cudnn> convolutions;  ///< null until a graph has a convolution
};

/// An NVIDIA GPU through the driver API: streams, events, memory and the rules of device.h are the
/// driver's. Ops are NVTX ranges of the executor. Calls, kernels and copies are not published,
/// because CUPTI reports them (docs/reference/nvtx-conventions.md). `record`, `done`, `wait` and
/// `synchronize` may be called from any thread.
class CudaDevice final : public Device {
 public:
  /// Throws Error (bad input) that names what is missing: driver, GPU, kernels of this build, or
  /// cuBLASLt.
  explicit CudaDevice(const CudaDeviceOptions& options);
  /// Finishes all queued work first.
  ~CudaDevice() override;

  const CudaLibraries& libraries() const { return libraries_; }
  const cuda::Driver& driver() const { return *libraries_.driver; }
  kernels::cuda::KernelLibrary& kernels() const { return *libraries_.kernels; }
  /// Allocates at least `bytes` bytes of device memory by cuMemAlloc, not zeroed. Throws Error when
  /// there is not enough memory. Freeing it waits for the device.
  CUdeviceptr take(std::int64_t bytes);
  void give_back(CUdeviceptr memory) noexcept;
  /// cuDNN, loaded on the first call, because most models need none. Throws Error (bad input) that
  /// names what is missing.
  const cuda::Cudnn& convolutions();
  /// The driver's handle of the stream, for libraries.
  CUstream handle(StreamId id) const { return stream(id).get(); }
  /// Runs a host function in stream order. The function must outlive its run and must not call the
  /// driver. An exception that it throws becomes the device's error.
  void call(StreamId stream, const std::function<void()>& function);
  /// Marks the device as failed: every later call fails with `why`. May be called from any thread.
  void fail(const std::string& why);
  /// Throws the device's first error again, if there is one.
  void check_sticky() const;

  const DeviceInfo& info() const override { return info_; }
  StreamId create_stream(const std::string& name) override;
  Memory allocate(std::int64_t bytes, MemoryKind kind) override;
  void launch(StreamId stream, const Kernel& kernel, const LaunchArguments& arguments) override;
  void copy(StreamId stream, MemoryView to, MemoryView from, std::int64_t bytes,
            std::int64_t batch) override;
  void copy_blocking(StreamId stream, MemoryView to, MemoryView from, std::int64_t bytes,
                     std::int64_t batch) override;
  Event record(StreamId stream) override;
  void wait(StreamId stream, const Event& event) override;
  bool done(const Event& event) override;
  void synchronize(const Event& event) override;
  void synchronize(StreamId stream) override;
  void synchronize() override;
  std::optional<std::chrono::nanoseconds> time_of(const Event&) override { return std::nullopt; }
  std::unique_ptr<CompiledGraph> compile(const Graph& graph,
                                         const CompileOptions& options) override;
  std::unique_ptr<Kernel> make_kernel(Kernel::Tag tag, const kernels::StreamOp& op) override;
  std::unique_ptr<Kernel> join(StreamId stream, Kernel::Tag tag,
                               const std::vector<const Kernel*>& kernels,
                               const LaunchArguments& sample) override;
  HostClock& clock() override { return steady_host_clock(); }
  bool computes() const override { return true; }

 protected:
  void release(MemoryView memory, std::int64_t bytes) noexcept override;

 private:
  CudaStream& stream(StreamId id) const { return *streams_[id.value]; }
  /// Stores and throws the driver's error about earlier work, with the ops that may have caused it.
  [[noreturn]] void fail_work(const Error& error);
  /// Runs a call that may report errors of earlier work.
  template <class Call>
  auto checked(const Call& call);
  /// Records that all work launched before has ended.
  void all_done() { unchecked_first_ = unchecked_last_ = nullptr; }

  CudaDeviceOptions options_;
  DeviceInfo info_;
  CudaLibraries libraries_;
  std::vector<std::unique_ptr<CudaStream>> streams_;
  mutable std::mutex mutex_;  ///< guards the next three
  std::string sticky_;
  nvtx::Name unchecked_first_ = nullptr;  ///< first op since the device was last known to be well
  nvtx::Name unchecked_last_ = nullptr;
};

}  // namespace headway::trainer
