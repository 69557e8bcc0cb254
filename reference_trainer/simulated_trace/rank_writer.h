// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reference_trainer/devices/sim/simulated_run.h"
#include "trace/save/writer.h"

namespace headway::trainer::sim {

using trace::StringId;

/// Writes one rank's recording as one process of a trace. `alone`: the file has no other ranks, so
/// its GPU is number 0.
class RankWriter {
 public:
  RankWriter(trace::TraceWriter& writer, const SimulatedRun& run, const Recording& recording,
             bool alone);
  void write();

 private:
  void write_process();
  void write_device();
  void write_memory();
  void write_clock();
  void write_graph();
  void write_calls();
  void write_synchronization(const Call& call);
  void write_ranges();
  void write_files();
  void write_ops();
  std::int64_t write_kernel(const Op& op);
  std::int64_t write_copy(const Op& op);
  void write_collectives();

  StringId text(nvtx::Name name);
  std::int64_t thread(std::int32_t worker) const { return global_pid_ | (worker + 2); }
  std::int32_t stream(StreamId id) const {
    return id.valid() ? static_cast<std::int32_t>(id.value) + 7 : -1;
  }

  trace::TraceWriter& writer_;
  const SimulatedRun& run_;
  const Recording& recording_;
  const std::int64_t pid_;
  const std::int64_t global_pid_;
  const std::int32_t gpu_;
  std::unordered_map<nvtx::Name, StringId> texts_;
  std::vector<std::int64_t> range_rows_;       ///< rowid in NVTX_EVENTS, by range
  std::vector<std::int64_t> collective_rows_;  ///< rowid of its kernel, by collective
};

}  // namespace headway::trainer::sim
