// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "collector/record/messages/clock.h"
#include "collector/record/messages/messages.h"
#include "collector/record/rows/trace_sink.h"
#include "trace/tables/process.h"

namespace headway::record {

/// globalPid of Nsight Systems' tables, without host bits.
constexpr std::int64_t global_pid(std::int32_t pid) {
  return std::int64_t{pid} << 24;
}

/// A rank that did not end well.
struct FailedRank {
  std::int64_t rank = -1;  ///< the launcher's number
  std::int32_t pid = 0;
  std::optional<int> signal;  ///< the signal that killed it
  std::optional<int> exit_code;
};

/// Processes and threads of the recorded tree. The table is complete only when the recording ends, but it is also written
/// before: a trace that is read live or was cut off needs ranks and names. One thread.
class ProcessTable {
 public:
  explicit ProcessTable(const TimeAxis& axis) : axis_(axis) {}

  /// May be called again for a process: the newer message wins.
  void seen(const ProcessSeen& message);
  void ended(const ProcessEnded& message);
  /// Our library is loaded in the process.
  void injected(std::int32_t pid);
  /// Adds the number of records read from a process in one round.
  void add_records(std::int32_t pid, std::int64_t count);

  /// A thread has recorded something.
  void thread_seen(std::int32_t pid, std::int32_t tid);
  /// The program named the thread through NVTX; this name has priority over the system's.
  void thread_named(std::int32_t pid, std::int32_t tid, std::string_view name);
  /// Reads the system's names of threads that are new or may have been renamed since.
  void refresh_thread_names(std::int64_t monotonic_ns);

  /// Writes the rows known by now; they replace the rows written before.
  void write(TraceSink& sink) const;
  /// Like write(), but only if something changed; the interval is at least 10 ms times the number of
  /// processes.
  void write_news(TraceSink& sink, std::int64_t monotonic_ns);
  /// To be called at the end: counts the processes that did not record.
  void count_losses(TraceSink& sink) const;

  std::size_t process_count() const { return processes_.size(); }
  std::size_t injected_count() const;
  /// Processes that could not record, because they were started without Headway's environment variables.
  std::vector<std::string> without_session() const;
  /// The rank that failed first; launchers then stop the other ranks, which did not fail themselves. Nullopt: no known
  /// failure.
  std::optional<FailedRank> first_failed_rank() const;
  std::size_t thread_count() const { return threads_.size(); }
  /// The number of records of all processes.
  std::int64_t records() const;
  /// What a launcher told the first process that is a rank; the values of the run are the same for all.
  const Launched& launched() const { return launched_; }

 private:
  struct Process {
    trace::tables::Process::Row row;
    std::string name;
    std::string command_line;
    bool without_session = false;
  };
  struct Thread {
    std::string name;
    bool named_by_program = false;  ///< the system's name is ignored
    int reads = 0;                  ///< how often the system's name was read, at growing intervals
    std::int64_t next_read_ns = 0;
  };
  Process& process(std::int32_t pid);

  const TimeAxis& axis_;
  bool news_ = false;               ///< something changed since the last write
  std::int64_t next_write_ns_ = 0;  ///< CLOCK_MONOTONIC
  Launched launched_;
  std::map<std::int32_t, Process> processes_;
  std::map<std::int32_t, ProcessEnded> early_ends_;  ///< of processes that were not seen (yet)
  std::map<std::pair<std::int32_t, std::int32_t>, Thread> threads_;  ///< by pid, tid
};

}  // namespace headway::record
