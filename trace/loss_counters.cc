// SPDX-License-Identifier: MIT
#include "trace/loss_counters.h"

#include <array>

#include "common/error.h"

namespace headway::trace {
namespace {

constexpr std::array<LossDeclaration, static_cast<std::size_t>(Loss::kCount_)> kDeclarations = {{
    {Loss::kRingFull, "ring_full", Severity::kLoss,
     "Events were dropped because a thread's buffer was full: a burst exceeded the recorder's "
     "speed. Record fewer ranges, register their names, or leave a core free."},
    {Loss::kThreadsWithoutRing, "threads_without_ring", Severity::kLoss,
     "Events were dropped because more threads recorded at once than there are buffers."},
    {Loss::kProcessNotInjected, "process_not_injected", Severity::kInfo,
     "Processes of the tree never used NVTX or CUDA: they are recorded from outside only (CPU, "
     "memory, I/O)."},
    {Loss::kNvtxPopWithoutPush, "nvtx_pop_without_push", Severity::kInfo,
     "The program ended ranges that were never begun; these ends are ignored."},
    {Loss::kNvtxPayloadCut, "nvtx_payload_cut", Severity::kDoubt,
     "Texts or payloads over the size limit were cut."},
    {Loss::kNvtxUnknownHandle, "nvtx_unknown_handle", Severity::kDoubt,
     "Events named a domain or string that was never registered; they are kept without it."},
    {Loss::kSharedMemoryCorrupt, "shared_memory_corrupt", Severity::kLoss,
     "A process damaged its shared event memory; all its later events are lost."},
    {Loss::kDiskFull, "disk_full", Severity::kLoss,
     "The disk was full: later events were counted but not stored."},
    {Loss::kClockStep, "clock_step", Severity::kDoubt,
     "The wall clock was stepped by more than 1 ms during the recording; times stay on the clock "
     "before the step."},
    {Loss::kReentrantEvent, "reentrant_event", Severity::kLoss,
     "Events from a signal handler were dropped, because the same thread was recording."},
    {Loss::kCuptiDropped, "cupti_dropped", Severity::kLoss,
     "CUDA records were lost: no buffer was free, or the process died before completing them."},
    {Loss::kIoPathFolded, "io_path_folded", Severity::kInfo,
     "A process opened too many files to keep all names: the I/O of later files is counted under "
     "their folder, as folder/*."},
    {Loss::kIoNotFollowed, "io_not_followed", Severity::kDoubt,
     "Reads and writes were not recorded because their descriptor number is over 65535."},
    {Loss::kNegativeDuration, "negative_duration", Severity::kDoubt,
     "Rows that end before they start were discarded."},
    {Loss::kTimeOutOfRange, "time_out_of_range", Severity::kDoubt,
     "Rows more than ten years away from the session were discarded."},
    {Loss::kOrphanDeviceOp, "orphan_device_op", Severity::kDoubt,
     "Device ops without a recorded launch call: they cannot be attributed to steps, ranges or "
     "ops. A program that describes its own device must send a headway.device_call with the same "
     "correlation."},
    {Loss::kDuplicateCorrelation, "duplicate_correlation", Severity::kDoubt,
     "Correlation ids used by two calls of one process; the later call wins."},
    {Loss::kOpBeforeLaunch, "op_before_launch", Severity::kDoubt,
     "Device ops start before the call that launched them: host and device clocks disagree."},
    {Loss::kUnknownString, "unknown_string", Severity::kDoubt,
     "Rows refer to texts missing from StringIds; they show as '?'."},
    {Loss::kMissingTable, "missing_table", Severity::kInfo,
     "The file lacks tables that this reader uses."},
    {Loss::kDanglingRow, "dangling_row", Severity::kDoubt,
     "Rows describe a row missing from the file; they were discarded."},
    {Loss::kFileCut, "file_cut", Severity::kLoss,
     "The file ends before its end mark (the profiler or a copy was interrupted): later data is "
     "missing."},
    {Loss::kMalformedRecord, "malformed_record", Severity::kDoubt,
     "Malformed records, or records without phase or time, were skipped."},
    {Loss::kRepairedText, "repaired_text", Severity::kInfo,
     "Records contained control characters or invalid UTF-8; these were replaced."},
    {Loss::kMissingDuration, "missing_duration", Severity::kDoubt,
     "Events without a duration are kept as points."},
    {Loss::kUnpairedEvent, "unpaired_event", Severity::kDoubt,
     "Events without an end last until the end of the trace; ends without a begin are ignored."},
    {Loss::kUnreadableValue, "unreadable_value", Severity::kDoubt,
     "Non-numeric values (NaN, Infinity, text) were discarded."},
    {Loss::kUnknownEvent, "unknown_event", Severity::kInfo,
     "Events of unused kinds (samples, object snapshots) were skipped."},
}};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kDeclarations.size(); ++i) {
    if (kDeclarations[i].loss != static_cast<Loss>(i)) return false;
  }
  return true;
}
static_assert(in_enum_order(), "kDeclarations must list the counters in the order of enum Loss");

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kDoubt:
      return "doubt";
    case Severity::kLoss:
      return "loss";
  }
  return "loss";
}

std::span<const LossDeclaration> loss_declarations() {
  return kDeclarations;
}

const LossDeclaration& declaration_of(Loss loss) {
  HEADWAY_INVARIANT(loss < Loss::kCount_);
  return kDeclarations[static_cast<std::size_t>(loss)];
}

}  // namespace headway::trace
