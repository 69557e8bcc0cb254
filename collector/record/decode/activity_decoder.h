// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "collector/record/decode/definitions.h"
#include "collector/record/messages/clock.h"
#include "collector/record/messages/gpu_series.h"
#include "collector/record/messages/segment_reader.h"
#include "collector/record/rows/counter_table.h"
#include "collector/record/rows/process_table.h"
#include "collector/record/scope/scope.h"
#include "collector/wire/activity.h"

namespace headway::record {

/// Numbers of GPUs in TARGET_INFO_GPU. They are given by UUID, because processes may see different
/// GPUs under the same ordinal (CUDA_VISIBLE_DEVICES).
class GpuNumbers {
 public:
  /// The number of a GPU; numbers start at 0, in the order of the first calls.
  std::int64_t of(std::string_view uuid);
  /// True at the first call for a number: the caller must then write the description of the GPU.
  bool is_first_description(std::int64_t number) { return described_.insert(number).second; }

 private:
  std::map<std::string, std::int64_t, std::less<>> numbers_;
  std::set<std::int64_t> described_;
};

/// Converts a memory kind of CUPTI, where 0 is "unknown", to Nsight Systems' kinds, which start at 0
/// with CUPTI's 1.
inline std::optional<std::int64_t> memory_kind(std::uint32_t of_cupti) {
  if (of_cupti == 0) return std::nullopt;
  return static_cast<std::int64_t>(of_cupti) - 1;
}

/// Turns CUPTI's activity buffers of one process image into rows of Nsight Systems' tables. Any
/// content is safe. One thread.
class ActivityDecoder {
 public:
  ActivityDecoder(std::int32_t pid, const Definitions& definitions, GpuNumbers& gpus,
                  ProcessTable& processes, CounterTable& counters, const TimeAxis& axis,
                  TraceSink& sink, Scope& scope)
      : pid_(pid),
        definitions_(definitions),
        gpus_(gpus),
        processes_(processes),
        counters_(counters),
        axis_(axis),
        sink_(sink),
        scope_(scope) {}

  /// Decodes the buffers of one round. Unreadable records are counted as lost.
  void read(const SegmentData& data);
  /// Reports the calls in the buffers to the scope; call it before the ops that they launched are
  /// read.
  void note_calls(const SegmentData& data);
  /// To be called when the image is gone: writes the names that the program gave its streams.
  void finish();
  /// The number of calls, kernels, copies, memsets and waits written so far.
  std::int64_t events() const { return events_; }

 private:
  /// A kernel's name as three texts of the trace.
  struct Name {
    std::uint64_t address = 0;  ///< in the process; 0: not looked up yet
    trace::StringId demangled;
    trace::StringId base;
    trace::StringId mangled;
  };

  /// `partial`: the process died while the buffer was written; the first zero record ends it.
  void read_buffer(std::span<const std::byte> bytes, bool partial);
  /// One record; kinds that Headway does not read are skipped.
  void read_record(wire::ActivityKind kind, std::span<const std::byte> record);
  void write(const wire::activity::Api& record, bool driver);
  void write(const wire::activity::Kernel& record);
  void write(const wire::activity::Memcpy& record);
  void write(const wire::activity::MemcpyPeer& record);
  void write(const wire::activity::Memset& record);
  void write(const wire::activity::Synchronization& record);
  void write(const wire::activity::CudaEvent& record);
  void write(const wire::activity::Overhead& record);
  void write(const wire::activity::GraphTrace& record);
  void write(const wire::activity::Memory& record);
  void write(const wire::activity::MemoryPool& record);
  void write(const wire::activity::Environment& record);
  void write(const wire::activity::Device& record);
  void write(const wire::activity::Stream& record);

  /// Start and end on the axis of the trace; nullopt, and counted as a loss, when CUPTI had no time.
  std::optional<Interval> interval_of(std::uint64_t start, std::uint64_t end);
  /// The same, stored in a row; false also when the op lies outside the scope. `launch`: correlation
  /// of the call that launched the op, which decides; 0: the op's own time decides.
  template <class Row>
  bool set_times(Row& row, std::uint64_t start, std::uint64_t end, std::uint32_t launch = 0);
  /// A single time; nullopt, and counted as a loss, when CUPTI had no time.
  std::optional<std::int64_t> time_of(std::uint64_t stamp);
  /// The thread's id in the trace; also makes the thread known to the process table.
  std::int64_t global_tid(std::uint32_t tid);
  trace::StringId call_name(bool driver, std::uint32_t cbid);
  const Name& kernel_name(std::uint64_t address);
  /// CUDA's ordinal of the context's device; 0 for a context that was never described.
  std::int32_t device_of(std::uint32_t context) const;

  std::int32_t pid_;
  const Definitions& definitions_;
  GpuNumbers& gpus_;
  ProcessTable& processes_;
  CounterTable& counters_;
  const TimeAxis& axis_;
  TraceSink& sink_;
  Scope& scope_;
  std::array<std::uint16_t, wire::kActivityKinds> strides_{};  ///< by kind, as the process says
  std::unordered_map<std::uint64_t, Name> names_;              ///< by the address in the process
  std::unordered_map<std::uint64_t, trace::StringId> calls_;   ///< by wire::callback_id
  std::unordered_map<std::uint32_t, std::int32_t> devices_;    ///< by context
  std::unordered_map<std::uint32_t, std::int64_t> gpu_of_device_;    ///< numbers of the trace
  std::unordered_map<std::uint32_t, std::uint32_t> stream_context_;  ///< by stream
  /// Time of the last sample, by device and kind of environment.
  std::map<std::pair<std::uint32_t, std::uint32_t>, TimeNs> environment_;
  std::uint32_t last_tid_ = 0;
  std::int64_t events_ = 0;
};

}  // namespace headway::record
