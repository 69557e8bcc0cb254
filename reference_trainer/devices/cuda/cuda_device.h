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

/// What the device's ops launch through: one GPU, made current on the thread that made the device.
struct CudaLibraries {
  std::unique_ptr<const cuda::Driver> driver;
  std::unique_ptr<const cuda::Context> context;
  std::unique_ptr<kernels::cuda::KernelLibrary> kernels;
  std::unique_ptr<const cuda::CublasLt> products;
  std::unique_ptr<const cuda::Cudnn> convolutions;  ///< null until a graph has one
};

/// An NVIDIA GPU through the driver's interface: streams, events and memory are the driver's, and so are the rules of
/// device.h. Ops are NVTX ranges of the executor; calls, kernels and copies are not published, because CUPTI reports
/// them (docs/reference/nvtx-conventions.md). `record`, `done`, `wait` and `synchronize` may be called from any thread.
class CudaDevice final : public Device {
 public:
  /// Throws Error (bad input) that says what is missing: driver, GPU, kernels of
  /// this build, cuBLASLt.
  explicit CudaDevice(const CudaDeviceOptions& options);
  /// Finishes all queued work first.
  ~CudaDevice() override;

  const CudaLibraries& libraries() const { return libraries_; }
  const cuda::Driver& driver() const { return *libraries_.driver; }
  kernels::cuda::KernelLibrary& kernels() const { return *libraries_.kernels; }
  /// Device memory of at least so many bytes by cuMemAlloc, not zeroed; throws Error when there is none left. The free
  /// waits for the device.
  CUdeviceptr take(std::int64_t bytes);
  void give_back(CUdeviceptr memory) noexcept;
  /// Loaded when it is first asked for: most models need no cuDNN. Throws Error (bad input) that says what is missing.
  const cuda::Cudnn& convolutions();
  /// The driver's stream, for libraries.
  CUstream handle(StreamId id) const { return stream(id).get(); }
  /// Runs a function of the host in the stream's order; it must outlive its run and call nothing of the driver. What it
  /// throws becomes the device's error.
  void call(StreamId stream, const std::function<void()>& function);
  /// The device is of no more use: what it is asked from now on fails with `why`. From any thread.
  void fail(const std::string& why);
  /// Throws the first error of the device again, if there was one.
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
  /// Throws and keeps what the driver says of earlier work, with the ops that it may be about.
  [[noreturn]] void fail_work(const Error& error);
  /// Runs a call that reports errors of earlier work.
  template <class Call>
  auto checked(const Call& call);
  /// All work that was launched before has ended.
  void all_done() { unchecked_first_ = unchecked_last_ = nullptr; }

  CudaDeviceOptions options_;
  DeviceInfo info_;
  CudaLibraries libraries_;
  std::vector<std::unique_ptr<CudaStream>> streams_;
  mutable std::mutex mutex_;  ///< of the next three
  std::string sticky_;
  nvtx::Name unchecked_first_ = nullptr;  ///< launched since the device was last known to be well
  nvtx::Name unchecked_last_ = nullptr;
};

}  // namespace headway::trainer
