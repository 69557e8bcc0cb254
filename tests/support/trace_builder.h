// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "common/nvtx_conventions.h"
#include "tests/support/temporary_folder.h"
#include "trace/save/writer.h"
#include "trace/tables/process.h"
#include "trace/trace.h"

namespace headway::test {

/// Makes a small trace event by event, through the real writer and the real loader. Times in ns.
/// Process 100 with a host device 0 exists from the start; threads and streams exist on first use.
class TraceBuilder {
 public:
  struct Op {
    std::string_view name = "kernel";
    std::int32_t stream = 1;
    trace::DeviceOpKind kind = trace::DeviceOpKind::kKernel;
    trace::Phase phase = trace::Phase::kNone;
    std::int64_t op = -1;
    std::int64_t batch = -1;
    std::int64_t bytes = 0;
    std::int64_t flops = 0;
    trace::MemoryKind source = trace::MemoryKind::kUnknown;
  };

  TraceBuilder();

  void range(std::int32_t tid, std::string_view name, std::int64_t start, std::int64_t end,
             trace::RangeInfo info = {});
  /// The domain of the ranges added from now on; "" is the default one. A framework's profiler has one
  /// per kind of row: "cpu_op", "python_function".
  void domain(std::string_view name);
  void mark(std::int32_t tid, std::string_view name, std::int64_t at);
  /// A sample of the thread's stack (frames by ';', innermost first), which stands for `us` of its time.
  void sample(std::int32_t tid, std::string_view stack, std::int64_t at, std::int64_t us);
  /// A range that never ended.
  void open_range(std::int32_t tid, std::string_view name, std::int64_t start,
                  trace::RangeInfo info = {});
  /// A host call that enqueues an op and the op itself. A copy kind makes the call a copy call.
  void launch(std::int32_t tid, std::int64_t call_start, std::int64_t call_end,
              std::int64_t op_start, std::int64_t op_end, Op op);
  /// A host call that enqueues nothing (a wait, a record, an allocation).
  void call(std::int32_t tid, trace::DeviceCallKind kind, std::int64_t start, std::int64_t end,
            std::int32_t stream = 1, std::int64_t sync_id = 0, std::string_view name = "call");
  void graph_op(std::int64_t op, std::string_view type, std::string_view name, trace::Phase phase,
                std::initializer_list<std::int64_t> inputs, std::int64_t bytes = 0,
                std::int64_t output_bytes = 0);
  void setting(std::string_view name, std::string_view value);
  void counter(std::string_view series, std::string_view unit, std::int64_t at, double value);
  /// A call on a file; several when `calls` is over 1, which took `busy` together.
  void io(std::int32_t tid, trace::IoOp op, std::string_view path, std::int64_t start,
          std::int64_t end, std::int64_t bytes, std::int64_t calls = 1, std::int64_t busy = -1);
  void process_killed(int signal, std::int64_t at);
  void thread_name(std::int32_t tid, std::string_view name);

  /// Finishes the file and loads it.
  trace::Trace load();
  /// Finishes the file and gives its path, valid as long as the builder.
  std::filesystem::path save();
  trace::TraceWriter& writer() { return writer_; }

  static constexpr std::int64_t kGlobalPid = std::int64_t{100} << 24;

 private:
  std::int64_t add_mark(std::int32_t tid, std::string_view name, std::int64_t at);
  std::int64_t global_tid(std::int32_t tid) const { return kGlobalPid | tid; }

  TemporaryFolder folder_;
  trace::TraceWriter writer_;
  std::int64_t next_correlation_ = 1;
  std::int64_t last_time_ = 0;
  std::int64_t domain_ = 0;
  std::map<std::string, std::int64_t, std::less<>> domains_;
  std::map<std::string, std::int64_t, std::less<>> series_;
  trace::tables::Process::Row process_;
  bool saved_ = false;
};

}  // namespace headway::test
