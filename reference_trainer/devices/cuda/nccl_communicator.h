// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "kernels/cuda/driver/nccl.h"
#include "reference_trainer/comm/backend_communicator.h"
#include "reference_trainer/devices/cuda/cuda_device.h"

namespace headway::trainer {

/// Collectives between GPUs through NCCL, one GPU per rank; the ranks find each other through the
/// backend. NCCL's own ranges describe the collectives in traces. A watcher thread checks ten times
/// a second whether NCCL or another rank has failed, or a collective has timed out. In that case it
/// aborts NCCL's work, which ends the waiting of the streams, and the device fails with the reason.
/// `device` and `backend` must outlive it.
class NcclCommunicator final : public BackendCommunicator {
 public:
  NcclCommunicator(CudaDevice& device, CommBackend& backend, const LinkModel& links,
                   std::chrono::nanoseconds timeout);
  /// Waits for the device.
  ~NcclCommunicator() override;

  std::unique_ptr<PreparedCollective> prepare(Collective collective) override;
  void enqueue(StreamId stream, const PreparedCollective& collective, std::int64_t batch) override;

 private:
  void connect(Scope scope);
  cuda::nccl::Communicator* group(Scope scope) const {
    return groups_[static_cast<std::size_t>(scope)];
  }
  /// Makes a call and waits until NCCL has accepted it. Throws the error of NCCL or of another
  /// rank.
  void call(const char* name, cuda::nccl::Communicator* group, const std::function<int()>& make);
  void enqueue_server(CUstream stream, StreamId id, const PreparedCollective& collective);
  void enqueue_all_to_all(CUstream stream, StreamId id, const PreparedCollective& collective);
  void watch();
  void check_work();
  void give_up();

  CudaDevice& device_;
  cuda::Nccl library_;
  std::array<cuda::nccl::Communicator*, 3> groups_{};  // by Scope
  const std::chrono::nanoseconds timeout_;
  std::mutex mutex_;  ///< guards the next four
  std::condition_variable wake_;
  bool over_ = false;
  Event newest_;  ///< after the last collective
  std::chrono::steady_clock::time_point enqueued_;
  std::mutex library_mutex_;  ///< held during every call of NCCL: an abort frees its state
  bool given_up_ = false;
  std::thread watcher_;
};

}  // namespace headway::trainer
