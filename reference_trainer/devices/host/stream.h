// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "reference_trainer/devices/device.h"

namespace headway::trainer {

class HostStream;

/// A kernel of the host device: any function.
class HostKernel : public Kernel {
 public:
  using Body = std::function<void(const LaunchArguments&)>;
  HostKernel(Tag tag, Body body) : Kernel(std::move(tag)), body_(std::move(body)) {}
  void run(const LaunchArguments& arguments) const { body_(arguments); }

 private:
  Body body_;
};

/// The part of a kernel launch that is the same for every launch.
struct RecordedKernel {
  const HostKernel* kernel;
  std::chrono::nanoseconds at_least;     ///< emulated device memory: the shortest duration
  conventions::DeviceOpPayload payload;  ///< what the op's range carries
};

/// Kernels that one call launches, in order: the counterpart of a CUDA graph.
class RecordedKernels final : public Kernel {
 public:
  RecordedKernels(Tag tag, std::vector<RecordedKernel> kernels)
      : Kernel(std::move(tag)), kernels_(std::move(kernels)) {}
  const std::vector<RecordedKernel>& kernels() const { return kernels_; }

 private:
  std::vector<RecordedKernel> kernels_;
};

/// One launch.
struct KernelTask {
  const HostKernel* kernel;
  LaunchArguments arguments;
  std::chrono::nanoseconds at_least;  ///< see RecordedKernel
};
/// Recorded kernels. They take one place in the queue; each kernel is a separate op.
struct RecordedTask {
  const RecordedKernels* recorded;
  LaunchArguments arguments;
  std::uint64_t correlation;
};
/// One copy between host and "device" memory.
struct CopyTask {
  void* to;
  const void* from;
  std::int64_t bytes;
  double bytes_per_second;                          ///< of the emulated link; 0: as fast as memory
  std::shared_ptr<std::vector<std::byte>> staging;  ///< owns `from` for pageable sources
};
/// Waits until `stream` has completed `sequence` pieces of work.
struct WaitTask {
  HostStream* stream;
  std::uint64_t sequence;
};

struct HostTask {
  std::variant<std::monostate, KernelTask, RecordedTask, CopyTask, WaitTask> work;
  nvtx::Name name = nullptr;
  conventions::DeviceOpPayload
      payload;  ///< what the op's range carries; unused by waits and recorded kernels
};

/// Stores the first failure of any op; all later work is skipped, as after a CUDA error.
class StickyError {
 public:
  void set(std::string text);
  bool is_set() const { return set_.load(std::memory_order_acquire); }
  /// Throws Error when an op has failed.
  void check() const;

 private:
  std::atomic<bool> set_ = false;
  mutable std::mutex mutex_;
  std::string text_;
};

/// A first-in first-out queue of work with its own thread. At most kDepth pieces are outstanding
/// (queued or running), as on CUDA; a submitter blocks beyond that. Any thread may submit and wait.
class HostStream {
 public:
  static constexpr std::size_t kDepth = 1024;

  /// `on_start` runs first on the stream's thread. `spin`: the thread polls for the next kernel for
  /// a while, and a thread that waits for work polls until it is done, as on a GPU under
  /// cudaDeviceScheduleSpin; otherwise both sleep at once.
  HostStream(std::string name, StickyError& error, bool spin, std::function<void()> on_start);
  /// Finishes all queued work.
  ~HostStream();
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  const std::string& name() const { return name_; }
  /// Returns the task's sequence number (the first is 1).
  std::uint64_t submit(HostTask task);
  /// Sequence number of the last submitted task.
  std::uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  /// Whether the task is done or skipped. Does not block.
  bool completed(std::uint64_t sequence) const {
    return completed_.load(std::memory_order_seq_cst) >= sequence;
  }
  /// Blocks until that task is done or skipped.
  void wait_for(std::uint64_t sequence);

 private:
  void sleep_for(std::uint64_t sequence);
  void run(const std::function<void()>& on_start);
  bool wait_for_work(std::uint64_t next);
  void execute(const HostTask& task);
  void execute(const RecordedTask& task);
  void run_op(const HostTask& task);
  void complete(std::uint64_t sequence);
  /// Sleeps until `ready()` holds; wakes when the task `sequence()` completes. `lock` is held on
  /// entry and on return.
  template <class Sequence, class Ready>
  void sleep_until(std::unique_lock<std::mutex>& lock, const Sequence& sequence,
                   const Ready& ready);

  const std::string name_;
  StickyError& error_;
  const bool spin_;
  std::vector<HostTask> ring_{kDepth};  ///< task n lies at n modulo kDepth
  std::mutex mutex_;
  std::condition_variable work_;      ///< the stream's thread waits for work
  std::condition_variable progress_;  ///< other threads wait for completions or room
  std::atomic<std::uint64_t> submitted_ = 0;
  std::atomic<std::uint64_t> completed_ = 0;
  std::multiset<std::uint64_t> awaited_;  ///< sequences that sleepers wait for; under mutex_
  std::atomic<std::uint64_t> wake_at_ = std::numeric_limits<std::uint64_t>::max();  ///< minimum
  bool after_kernel_ = false;  ///< the last task was a kernel; only the stream's thread uses it
  bool idle_ = false;          ///< the thread sleeps in work_.wait
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace headway::trainer
