// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/devices/sim/cost_model.h"
#include "reference_trainer/devices/sim/drawn_world.h"
#include "reference_trainer/devices/sim/recording.h"
#include "reference_trainer/devices/sim/sim_timeline.h"
#include "reference_trainer/devices/sim/sim_world.h"
#include "reference_trainer/devices/sim/worker_pool.h"

namespace headway::trainer::sim {

struct SimOptions {
  SimulatedGpu gpu;
  const DrawnWorld* drawn = nullptr;  ///< outlives the device; null: the tables' machine
  double memory_bytes_per_s = 0;      ///< replaces the table's; 0: the table's
  double link_bytes_per_s = 0;        ///< of pinned copies; 0: the table's
  double clock = 1;                   ///< of the multiprocessors, as a share of their highest
  double jitter = 0;                  ///< durations vary evenly by at most this share
  std::uint64_t seed = 1;             ///< of the jitter
  int rank = 0;
  bool split_products = false;  ///< split the sums of matrix products that have too few blocks
  bool record_events = true;    ///< fill Recording::calls, ops, ranges
  bool record_edges = false;    ///< fill Recording::edges
};

/// The data that a rank enqueues for a collective or a message.
struct SimCollective {
  SimGroup* group = nullptr;  ///< the ranks that take part
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Scope scope = Scope::kWorld;
  std::int64_t bytes = 0;            ///< the full message
  std::int64_t transfer_bytes = -1;  ///< bytes that determine its time, where another rank has more
  std::string dtype = "f32";         ///< for the record
  int peer = -1;                     ///< for a message: the rank at its other end
  std::int64_t batch = conventions::kAbsent;
  Phase phase = Phase::kCommunication;
};

/// A GPU on a virtual clock. The host program runs for real, on the calling thread. Its calls
/// advance the clock by their cost, and the work that they enqueue gets its times from the cost
/// model and the rules of CUDA: streams in order, at most 1024 launches outstanding, events, one
/// copy engine per direction, pageable copies that block the host, collectives that wait for their
/// last member. No arithmetic is done. The result is deterministic to the nanosecond: jitter
/// depends on seed, rank, op and batch alone, never on the order of threads. Times of enqueued work
/// are computed when the host first needs them (`Timeline`). If the work includes a collective,
/// this may block the thread until all ranks have arrived. Kernels of different streams slow each
/// other down only in a drawn world.
class SimDevice final : public Device, public HostClock, public nvtx::Listener {
 public:
  SimDevice(const SimOptions& options, SimWorld& world);
  ~SimDevice() override;

  const DeviceInfo& info() const override { return info_; }
  StreamId create_stream(const std::string& name) override;
  Memory allocate(std::int64_t bytes, MemoryKind kind) override;
  bool launches(const Kernel& kernel, const LaunchArguments& arguments) const override;
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
  std::optional<std::chrono::nanoseconds> time_of(const Event& event) override;
  std::unique_ptr<CompiledGraph> compile(const Graph& graph,
                                         const CompileOptions& options) override;
  std::unique_ptr<Kernel> make_kernel(Kernel::Tag tag, const kernels::StreamOp&) override;
  std::unique_ptr<Kernel> join(StreamId stream, Kernel::Tag tag,
                               const std::vector<const Kernel*>& kernels,
                               const LaunchArguments& sample) override;
  HostClock& clock() override { return *this; }
  bool computes() const override { return false; }

  /// Adds `bytes` to the device memory in use; negative: subtracts.
  void occupy(std::int64_t bytes);
  /// The calls that allocate and free device memory, without real memory. A free waits for all work
  /// of the device.
  void allocate_call(std::int64_t bytes);
  void free_call(std::int64_t bytes);

  /// Enqueues a collective as NCCL does: as one kernel that starts when the rank is ready.
  void enqueue_collective(StreamId stream, const SimCollective& collective);

  // ---- HostClock, of the training thread ----
  std::chrono::nanoseconds now() const override { return std::chrono::nanoseconds(now_); }
  void spend(std::chrono::nanoseconds duration) override;
  void rest(std::chrono::nanoseconds duration) override { now_ += duration.count(); }
  /// The loader's workers that compete with the training thread for processors; null: none do. The
  /// caller keeps it until it is replaced.
  void compete_with(WorkerPool* workers) { workers_ = workers; }

  // ---- nvtx::Listener, for the thread that drives the device ----
  void push(nvtx::Name name, const conventions::RangePayload& payload) override;
  void pop() override;
  void describe(const conventions::GraphOpPayload& op) override;

  /// 1 ± jitter, for the given event and batch.
  double jitter(std::uint64_t what, std::int64_t batch) const;
  /// Noise of a drawn world, for the given event.
  double noise(double width, std::uint64_t what, std::int64_t which) const;
  SimWorld& world() { return world_; }
  const CostModel& costs() const { return costs_; }
  bool splits_products() const { return options_.split_products; }
  const DrawnWorld& drawn() const { return drawn_; }
  const SimOptions& options() const { return options_; }
  /// For other events on the virtual clock (those of the loader's workers). It is taken when the
  /// run is over.
  Recording& recording() { return recording_; }

 protected:
  void release(MemoryView memory, std::int64_t bytes) noexcept override;

 private:
  /// Begins a call of the host; end_call() advances the clock by its cost.
  Call& begin_call(DeviceCallKind kind, StreamId on, std::int64_t bytes = 0);
  void end_call(std::int64_t cost);
  /// Advances the clock by what the training thread computes, which takes `ns` on a processor of its
  /// own.
  void compute(std::int64_t ns);
  /// Makes the call wait until that work has ended.
  void block_for(StreamId on, std::uint64_t sequence);
  void block_for_all();
  void block_until(std::int64_t time);
  /// Makes the call wait while 1024 pieces of work are outstanding.
  void wait_for_room(StreamId on);
  /// Puts work into the stream's queue, from the end of the present call on.
  void submit(StreamId on, Work work);
  Work work_of(const class SimKernel& kernel, const LaunchArguments& arguments) const;
  void launch_graph(StreamId on, const class SimGraphLaunch& graph,
                    const LaunchArguments& arguments);
  void submit_copy(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                   std::int64_t batch);
  /// Makes a pause of the drawn world, if one is due at this range.
  void pause(const conventions::RangePayload& payload);

  const SimOptions options_;
  const DrawnWorld drawn_;
  const CostModel costs_;
  SimWorld& world_;
  DeviceInfo info_;
  Recording recording_;
  Timeline timeline_;
  WorkerPool* workers_ = nullptr;
  Call call_;  ///< the current call
  std::vector<std::size_t> open_ranges_;
  /// By stream: for each place in its queue, the number of its last piece of work. A graph takes
  /// one place.
  std::vector<std::vector<std::uint64_t>> places_;
  std::int64_t graphs_ = 0;         ///< CUDA graphs made so far
  std::int64_t now_ = 0;            ///< ns of the virtual clock
  std::int64_t memory_in_use_ = 0;  ///< bytes
  std::uint64_t next_correlation_ = 1;
  std::uint64_t next_sync_ = 1;
};

}  // namespace headway::trainer::sim
