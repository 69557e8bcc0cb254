// SPDX-License-Identifier: MIT
// CUDA_GPU_MEMORY_USAGE_EVENTS (headway record --cuda-memory, nsys --cuda-memory-usage) -> a counter
// of what each process holds on each device.
#include <algorithm>
#include <tuple>

#include "trace/load/context.h"
#include "trace/meta_keys.h"
#include "trace/tables/cuda_memory_usage.h"

namespace headway::trace::load_detail {
namespace {

constexpr std::int64_t kRelease = 1;

/// Whether a memory kind lies on the device: device, array, managed, and static memory of modules.
bool is_on_device(std::int64_t kind) {
  return kind >= 2 && kind <= 6;
}

struct Change {
  std::int64_t global_pid;
  std::int64_t device;
  std::int64_t time;
  std::int64_t bytes;  ///< negative: released
};

}  // namespace

void load_memory(Context& context) {
  // A saved file has the counter already.
  if (context.trace.meta.contains(meta::kSourceFile)) return;
  using Row = tables::CudaMemoryUsage::Row;
  std::vector<Change> changes;
  sqlite::Select<tables::CudaMemoryUsage, &Row::start, &Row::global_pid, &Row::device_id,
                 &Row::bytes, &Row::mem_kind,
                 &Row::operation>::run(context.db, [&](std::int64_t, const Row& row) {
    constexpr std::int64_t kMost = std::int64_t{1} << 50;
    if (!is_on_device(row.mem_kind) || row.bytes < 0 || row.bytes > kMost) return;
    if (!usable(context.losses, row.start, row.start)) return;
    changes.push_back({row.global_pid, row.device_id, row.start,
                       row.operation == kRelease ? -row.bytes : row.bytes});
  });
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tie(a.global_pid, a.device, a.time) < std::tie(b.global_pid, b.device, b.time);
  });
  const Change* before = nullptr;
  std::int64_t held = 0;
  for (const Change& change : changes) {
    bool same =
        before && before->global_pid == change.global_pid && before->device == change.device;
    before = &change;
    if (!same) {
      held = 0;
      ProcessId process = context.process(change.global_pid);
      CounterSeries series;
      series.name = "cuda.allocated";
      series.unit = "bytes";
      series.description =
          "Device memory allocated by the process through CUDA and not yet released.";
      series.process = process;
      series.device = static_cast<std::int32_t>(
          context.trace.devices[context.cuda_device(process, change.device).value].ordinal);
      context.trace.counters.push_back(std::move(series));
    }
    // Memory allocated before the recording began is released without a recorded allocation.
    held = std::max<std::int64_t>(0, held + change.bytes);
    if (context.stretch && !context.stretch->contains({change.time})) continue;
    CounterSeries& series = context.trace.counters.back();
    series.time.push_back({change.time});
    series.value.push_back(static_cast<double>(held));
  }
}

}  // namespace headway::trace::load_detail
