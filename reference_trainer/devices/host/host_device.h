// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/devices/host/stream.h"

namespace headway::trainer {

struct HostDeviceOptions {
  int threads = 1;                     ///< threads that share one op
  double link_bytes_per_second = 0;    ///< emulated link between host and device memory; 0: none
  double memory_bytes_per_second = 0;  ///< emulated device memory: a bound for kernels; 0: none
  bool spin = false;                   ///< host and device poll for each other instead of sleeping
};

/// The processor as an asynchronous device: streams are threads, kernels are functions, and "device
/// memory" is memory that only kernels and copies touch. It keeps the rules of CUDA that matter for
/// performance: launches return at once until 1024 are outstanding, copies from pageable memory
/// block the host while they are staged, an event is a point in a stream. It publishes every call
/// and every op as an NVTX range with its payload (common/nvtx_conventions.h).
class HostDevice final : public Device {
 public:
  explicit HostDevice(const HostDeviceOptions& options);
  /// Finishes all queued work first.
  ~HostDevice() override;

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
  /// A recorded list of kernels that is submitted at once.
  std::unique_ptr<Kernel> join(StreamId stream, Kernel::Tag tag,
                               const std::vector<const Kernel*>& kernels,
                               const LaunchArguments& sample) override;
  HostClock& clock() override { return steady_host_clock(); }
  bool computes() const override { return true; }

  /// Counterparts of cudaMalloc and cudaFree: published calls that get the pages of a reserved
  /// piece from the operating system and return them. The second waits for all work that was
  /// launched.
  void get_pages(void* piece, std::int64_t bytes);
  void give_back_pages(void* piece, std::int64_t bytes) noexcept;
  /// Returns when all work that was launched is done or skipped.
  void finish() noexcept;

  /// A kernel that runs `body` on the stream's thread.
  std::unique_ptr<Kernel> make_kernel(Kernel::Tag tag, HostKernel::Body body);
  /// The same, with only a name.
  std::unique_ptr<Kernel> make_kernel(const std::string& name, HostKernel::Body body);

 protected:
  void release(MemoryView memory, std::int64_t bytes) noexcept override;

 private:
  struct CallNames;  // registered names of the calls

  HostStream& stream(StreamId id) const { return *streams_[id.value]; }
  conventions::DeviceCallPayload call(conventions::DeviceCallKind kind, StreamId on) const;
  /// The queue entry that a launch of the kernel makes.
  RecordedKernel recorded(StreamId on, const Kernel& kernel) const;
  void launch_recorded(StreamId on, const RecordedKernels& recorded,
                       const LaunchArguments& arguments);
  std::uint64_t enqueue_copy(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                             std::int64_t batch, std::uint64_t correlation);

  HostDeviceOptions options_;
  DeviceInfo info_;
  std::unique_ptr<const CallNames> names_;
  StickyError error_;
  std::vector<std::unique_ptr<HostStream>> streams_;
  std::atomic<std::uint64_t> next_correlation_ = 1;
  std::atomic<std::uint64_t> next_sync_ = 1;
};

}  // namespace headway::trainer
