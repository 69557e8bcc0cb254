// SPDX-License-Identifier: MIT
#include "analyzer/stats/tables.h"

#include <array>

#include "common/parallel.h"

namespace headway::analyzer {

Table TableMaker::operator()(const trace::Trace& trace, const Analysis& analysis,
                             const Selection& selection) const {
  Table table = filtered_ ? filtered_(trace, analysis, selection) : whole_(trace, analysis);
  if (selection.text().empty()) return table;
  if (!table.note.empty()) table.note += " ";
  table.note += filtered_ ? selection.text() : "The filter does not apply to this table.";
  return table;
}

std::vector<Table> make_tables(const trace::Trace& trace, const Analysis& analysis,
                               std::initializer_list<TableMaker> makers) {
  std::vector<Table> tables(makers.size());
  run_parallel(tables.size(),
               [&](std::size_t i) { tables[i] = makers.begin()[i](trace, analysis); });
  return tables;
}

std::span<const TableDeclaration> table_declarations() {
  static constexpr auto kTables = std::to_array<TableDeclaration>({
      {"findings", "Findings, ranked; then rules that cannot tell, then rules that are fine.",
       finding_table, "Shares are of the mean steady step of the slowest device."},
      {"doubts", "Warnings to read before trusting the figures.", doubt_table, "The whole trace."},
      {"partition", "Time per class in the steady steps; the classes sum exactly to the step.",
       partition_table,
       "Mean of each device's steady steps; shares are of that mean. Range and op filters do not "
       "apply: step time covers the whole device."},
      {"steps", "Every step: number, times on host and device, steady or not.", step_table,
       "One row for each step and device."},
      {"op-types", "Op types by device time per steady step.", op_type_table,
       "Mean of the steady steps; shares are of the slowest device's mean step. Overlapping ops "
       "each count in full, so shares may sum to over 100 %."},
      {"ops", "Model ops by device time per steady step.", op_table, "As for op-types."},
      {"layers", "Layers or modules by device time per steady step, forward, backward, update.",
       layer_table,
       "As for op-types. An op belongs to the module before the last dot of its name, or to the "
       "innermost nn.Module that launched it."},
      {"kernels", "Kernels by total time (as nsys stats cuda_gpu_kern_sum).", kernel_table,
       "All kernels of the trace; shares are of their total time; overlapping kernels each count "
       "in full."},
      {"kernel-families",
       "Kernels by function, recognised by name: time, tensor cores, number type.",
       kernel_family_table, "As for kernels."},
      {"tensor-cores",
       "Matrix work by op: on tensor cores, eligible but not on them, and the rest.",
       tensor_core_table,
       "Mean of the steady steps of all devices, without copies and communication."},
      {"launches", "Kernels by launch latency: call, queue, execution (as cuda_kern_exec_sum).",
       launch_table,
       "All kernels with a recorded launch call. Queue: from the end of the call to the kernel's "
       "start, 0 if it started earlier. Latency: from the start of the call, for launches on an "
       "empty stream."},
      {"copies",
       "Copies and memory sets by kind and memory: time and rate (as cuda_gpu_mem_time_sum).",
       copy_table, "All copies of the trace; shares are of their total time."},
      {"copy-sizes", "Copies and memory sets by kind: sizes (as cuda_gpu_mem_size_sum).",
       copy_size_table, "All copies of the trace."},
      {"collective-sums", "Collectives by kind, communicator and type (as nccl_sum).",
       collective_sum_table,
       "All communication of the trace; shares are of its total time, including waiting for other "
       "ranks. Bus bandwidth is that of the fastest instance, which waited least."},
      {"calls", "API calls by total time (as cuda_api_sum).", call_table,
       "All calls on all threads; shares are of their total time."},
      {"ranges", "NVTX ranges and framework ops by name: count and times (as nvtx_sum).",
       range_table,
       "All ranges on all threads; outer ranges include inner ones, so there is no share. Numbered "
       "names are grouped ('step #'); --keep-numbers separates them."},
      {"range-device",
       "Ranges projected onto the devices by their launched ops (as nvtx_gpu_proj_sum).",
       range_device_table,
       "Ranges that launched device work. Projected: from the first launched op's start to the "
       "last one's end. Busy: total time of those ops."},
      {"loaders", "Loader workers by stage: time per step and in total, bytes.", loader_table,
       "Shares are of the time between the worker's first and last range."},
      {"io", "Calls on files by folder: calls, latency, bytes, rate (`headway record --io`).",
       io_table, "All calls on all threads."},
      {"io-files", "File calls by file: calls, latency, bytes, rate (`headway record --io`).",
       io_file_table, "All calls on all threads."},
      {"io-threads", "File calls by thread, with time and bytes per steady step.", io_thread_table,
       "The steady steps; shares are of their time."},
      {"devices",
       "Each device over its whole span: compute, exposed communication and copies, idle.",
       device_table, "The whole span of each device; the four parts sum to it."},
      {"critical-path", "Critical path by kind and name: what the end of the steps waited for.",
       critical_path_table, "The steady steps; shares are of their total time."},
      {"path-kinds", "The critical path by kind, summing to the steps exactly.", path_kind_table,
       "The steady steps; the kinds sum to them."},
      {"slack", "Ops by time on the critical path, and slack of the others.", slack_table,
       "The steady steps."},
      {"ranks",
       "Each rank of the job: its step, the ranks it waits for, the ranks that wait for it.",
       rank_table, "Mean of each rank's steady steps."},
      {"collectives", "Communication by communicator, kind and size: transfer, waits, bandwidth.",
       collective_table, "All communication with known communicator and kind."},
      {"host-functions", "Functions of the training thread outside all ranges, by samples.",
       host_function_table, "The steady steps of the first device, or of the training thread."},
      {"processes", "Processes: lifetime and exit.", process_table, "The whole recording."},
      {"counters", "Sampled counters: minimum, mean and maximum.", counter_table,
       "All samples; the mean is over samples, not over time."},
      {"losses", "Lost or discarded data.", loss_table, "The whole trace."},
  });
  return kTables;
}

}  // namespace headway::analyzer
