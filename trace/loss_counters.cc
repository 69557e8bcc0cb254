// SPDX-License-Identifier: MIT
#include "trace/loss_counters.h"

#include <array>

#include "common/error.h"

namespace headway::trace {
namespace {

constexpr std::array<LossDeclaration, static_cast<std::size_t>(Loss::kCount_)> kDeclarations = {{
    {Loss::kRingFull, "ring_full", Severity::kLoss,
     "Events were dropped because a thread's ring was full: a burst came faster than the recorder "
     "could take it. Record fewer ranges, register their names, or leave a core free."},
    {Loss::kThreadsWithoutRing, "threads_without_ring", Severity::kLoss,
     "Events were dropped because more threads recorded at once than there are rings."},
    {Loss::kProcessNotInjected, "process_not_injected", Severity::kInfo,
     "Processes of the tree never used NVTX or CUDA: they are seen from outside only (CPU, memory, "
     "I/O)."},
    {Loss::kNvtxPopWithoutPush, "nvtx_pop_without_push", Severity::kInfo,
     "The program ended ranges that it had not begun; the ends are ignored."},
    {Loss::kNvtxPayloadCut, "nvtx_payload_cut", Severity::kDoubt,
     "Texts or payloads over the size limit were cut."},
    {Loss::kNvtxUnknownHandle, "nvtx_unknown_handle", Severity::kDoubt,
     "Events named a domain or string that was never registered; they are kept without it."},
    {Loss::kSharedMemoryCorrupt, "shared_memory_corrupt", Severity::kLoss,
     "A process damaged the shared memory its events travel through; from there on its events are "
     "lost."},
    {Loss::kDiskFull, "disk_full", Severity::kLoss,
     "The disk was full: events after that moment were counted but not stored."},
    {Loss::kClockStep, "clock_step", Severity::kDoubt,
     "The wall clock was stepped by more than 1 ms during the recording; times are kept on the "
     "clock from before the step."},
    {Loss::kReentrantEvent, "reentrant_event", Severity::kLoss,
     "Events raised by a signal handler while the same thread was recording were dropped."},
    {Loss::kCuptiDropped, "cupti_dropped", Severity::kLoss,
     "Records of CUDA were lost: no buffer was free for them, or the process died before they were "
     "complete."},
    {Loss::kIoPathFolded, "io_path_folded", Severity::kInfo,
     "Files were opened beyond the room that a process has for their names: their I/O stands under "
     "their folder, as folder/*."},
    {Loss::kIoNotFollowed, "io_not_followed", Severity::kDoubt,
     "Reads and writes were not recorded because their descriptor's number is over 65535."},
    {Loss::kNegativeDuration, "negative_duration", Severity::kDoubt,
     "Rows that end before they start were set aside."},
    {Loss::kTimeOutOfRange, "time_out_of_range", Severity::kDoubt,
     "Rows whose times lie more than ten years from the session were set aside."},
    {Loss::kOrphanDeviceOp, "orphan_device_op", Severity::kDoubt,
     "Device ops whose launching call is not in the trace: they cannot be attributed to steps, "
     "ranges or ops. A program that describes its own device must send a headway.device_call of "
     "the same correlation."},
    {Loss::kDuplicateCorrelation, "duplicate_correlation", Severity::kDoubt,
     "Correlation ids used by two calls of one process; the later call wins."},
    {Loss::kOpBeforeLaunch, "op_before_launch", Severity::kDoubt,
     "Device ops that start before the call that launched them: host and device clocks disagree."},
    {Loss::kUnknownString, "unknown_string", Severity::kDoubt,
     "Rows refer to texts that are not in StringIds; they show as '?'."},
    {Loss::kMissingTable, "missing_table", Severity::kInfo,
     "Tables this reader would have used are not in the file."},
    {Loss::kDanglingRow, "dangling_row", Severity::kDoubt,
     "Rows that describe another row describe one that is not in the file; they were set aside."},
    {Loss::kFileCut, "file_cut", Severity::kLoss,
     "The file ends before its end mark (the profiler or a copy was interrupted): what came after "
     "is missing."},
    {Loss::kMalformedRecord, "malformed_record", Severity::kDoubt,
     "Records that are not well-formed, or have no phase or time, were skipped."},
    {Loss::kRepairedText, "repaired_text", Severity::kInfo,
     "Records held control characters or bytes that are not UTF-8; these were replaced."},
    {Loss::kMissingDuration, "missing_duration", Severity::kDoubt,
     "Events without a duration are kept as points."},
    {Loss::kUnpairedEvent, "unpaired_event", Severity::kDoubt,
     "Events that begin and never end last until the end of the trace; ends without a beginning "
     "are "
     "ignored."},
    {Loss::kUnreadableValue, "unreadable_value", Severity::kDoubt,
     "Values that are not numbers (NaN, Infinity, text) were left out."},
    {Loss::kUnknownEvent, "unknown_event", Severity::kInfo,
     "Events of kinds that no analysis here uses (samples, object snapshots) were left out."},
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
