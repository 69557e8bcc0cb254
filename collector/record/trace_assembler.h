// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "collector/record/decode/segment_decoder.h"
#include "collector/record/messages/messages.h"
#include "collector/record/rows/counter_table.h"
#include "collector/record/rows/process_table.h"
#include "collector/record/rows/trace_sink.h"
#include "collector/record/scope/scope.h"

namespace headway::record {

/// Figures for the progress line, readable while another thread writes.
struct Progress {
  std::atomic<std::int64_t> events = 0;     ///< rows of events written so far
  std::atomic<std::int64_t> processes = 0;  ///< of the recorded tree
};

/// Turns messages into the trace: the only code that touches the file between its creation and its
/// end. With a scope that needs to know the future, what was drained waits here in memory until it is
/// decoded. One thread.
class TraceAssembler {
 public:
  /// `set_aside(segment)` is called when the content of a segment turned out damaged.
  TraceAssembler(TraceSink& sink, const ClockReading& origin, wire::Clock clock, Scope& scope,
                 Progress& progress, std::function<void(SegmentId)> set_aside);

  /// Works off the queue until it is closed and empty.
  void run(MessageQueue& queue);
  /// Writes what is only known at the end; the caller finishes the sink.
  void finish();

  const ProcessTable& processes() const { return processes_; }
  std::int64_t busiest_thread_records() const { return busiest_; }
  /// Calls on files, of images that have ended.
  std::int64_t io_calls() const { return io_calls_; }
  /// Mean of the processes' own measurements; 0 when there is none.
  double event_cost_ns() const;
  /// What the programs spent on handing over CUPTI's records, of images that have ended.
  std::int64_t cuda_overhead_ns() const { return cuda_overhead_ns_; }
  const std::vector<std::string>& refusals() const { return refusals_; }
  /// What the library says about CUDA; empty when no process initialised it.
  const std::string& cuda() const { return cuda_; }
  const TimeAxis& axis() const { return axis_; }

  /// How much may wait in memory for --ring; what comes before is given up.
  static constexpr std::size_t kMostHeld = 1u << 30;

 private:
  void handle(ProcessSeen& message) { processes_.seen(message); }
  void handle(ProcessEnded& message) { processes_.ended(message); }
  void handle(SegmentAdded& message);
  void handle(ProcessRefused& message);
  void handle(ProcessLeftOut&) { scope_.left_out_process(); }
  void handle(SegmentRound& message);
  void handle(Samples& message);
  void handle(ClockTick& message);
  void decode(SegmentRound& message);
  void write(const Samples& message);
  /// Decodes what has waited long enough.
  void release(std::int64_t now_monotonic_ns);
  /// Decodes what has waited longest.
  void release_oldest();
  /// At the end: nothing has to wait any more.
  void release_all();
  void note_calls(std::size_t until);
  /// For scopes by time or size: moves the scope on to now, and ends it when the file has its largest size.
  void check_scope();
  void count_losses(const SegmentCounters& counters, std::int64_t global_pid);

  TraceSink& sink_;
  TimeAxis axis_;
  wire::Clock clock_;
  Scope& scope_;
  Progress& progress_;
  std::function<void(SegmentId)> set_aside_;
  ProcessTable processes_;
  DomainNumbers domains_;
  GpuNumbers gpus_;
  std::map<SegmentId, std::unique_ptr<SegmentDecoder>> segments_;
  CounterTable counters_;
  std::deque<SegmentRound> held_;  ///< drained, not decoded: the scope may still give it up
  std::size_t held_bytes_ = 0;     ///< of `held_`
  std::size_t noted_ = 0;          ///< of `held_`: those whose calls are known to the scope
  std::deque<Samples> held_samples_;
  std::vector<std::string> refusals_;
  std::string cuda_;
  std::int64_t busiest_ = 0;
  std::int64_t io_calls_ = 0;
  std::int64_t cuda_overhead_ns_ = 0;
  std::int64_t cost_sum_ps_ = 0;
  std::int64_t cost_count_ = 0;
};

}  // namespace headway::record
