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
      {"findings", "What holds the step back, ranked; then what cannot be told, then what is fine.",
       finding_table, "Shares are of the mean steady step of the slowest device."},
      {"doubts", "What to know before trusting the figures.", doubt_table, "The whole trace."},
      {"partition", "Where the steady steps went: time per class, summing to the step exactly.",
       partition_table,
       "Mean of the steady steps of each device; shares are of that device's mean step. A filter "
       "by range or op does not apply: a step's time is that of the whole device."},
      {"steps", "Every step: number, times on host and device, steady or not.", step_table,
       "One row for each step and device."},
      {"op-types", "Types of ops by device time per steady step.", op_type_table,
       "Mean of the steady steps; shares are of the mean step of the slowest device. Ops that "
       "overlap count each, so shares may sum to more than 100 %."},
      {"ops", "Ops of the model by device time per steady step.", op_table, "As for op-types."},
      {"layers", "Layers or modules by device time per steady step, forward, backward, update.",
       layer_table,
       "As for op-types. An op belongs to the module named before its last dot, else to the "
       "innermost nn.Module that launched it."},
      {"kernels", "Kernels by total time (as nsys stats cuda_gpu_kern_sum).", kernel_table,
       "All kernels of the trace; shares are of their summed time, so kernels that overlap count "
       "each."},
      {"kernel-families",
       "Kernels by what they do, told from their names: time, tensor cores, number type.",
       kernel_family_table, "As for kernels."},
      {"tensor-cores",
       "Ops by matrix work: what runs on tensor cores, what could and does not, and the rest.",
       tensor_core_table,
       "Mean of the steady steps of all devices; copies and communication are left out."},
      {"launches",
       "Kernels by how long they waited: call, queue, execution (as cuda_kern_exec_sum).",
       launch_table,
       "All kernels whose launching call is in the trace. Queue is from the end of the call to the "
       "start of the kernel, 0 when it started earlier; latency is from the start of the call, "
       "only over launches that met an empty stream."},
      {"copies",
       "Copies and memory sets by kind and memory: time and rate (as cuda_gpu_mem_time_sum).",
       copy_table, "All copies of the trace; shares are of their summed time."},
      {"copy-sizes", "Copies and memory sets by kind: sizes (as cuda_gpu_mem_size_sum).",
       copy_size_table, "All copies of the trace."},
      {"collective-sums", "Collectives by kind, communicator and type (as nccl_sum).",
       collective_sum_table,
       "All communication of the trace; shares are of its summed time, waiting for other ranks "
       "included. Bus bandwidth is that of the fastest instance, which waited least."},
      {"calls", "API calls by total time (as cuda_api_sum).", call_table,
       "All calls of all threads; shares are of their summed time."},
      {"ranges", "NVTX ranges and framework ops by name: count and times (as nvtx_sum).",
       range_table,
       "All ranges of all threads; outer ranges include inner ones, so there is no share. Numbers "
       "that count are grouped: 'step #'; --keep-numbers keeps them apart."},
      {"range-device",
       "The same ranges projected onto the devices: what they launched (as nvtx_gpu_proj_sum).",
       range_device_table,
       "Ranges that launched device work. Projected: from the start of the first to the end of the "
       "last op launched inside; busy: the summed time of those ops."},
      {"loaders", "Loader workers by stage: time for each step and in all, bytes.", loader_table,
       "Shares are of the time between the worker's first and last range."},
      {"io", "Calls on files by folder: calls, latency, bytes, rate (`headway record --io`).",
       io_table, "All calls of all threads."},
      {"io-files", "The same by file.", io_file_table, "All calls of all threads."},
      {"io-threads", "The same by thread, with time and bytes per steady step.", io_thread_table,
       "The stretch of the steady steps; shares are of that stretch."},
      {"devices",
       "Each device over its whole span: compute, exposed communication and copies, idle.",
       device_table, "The whole span of each device; the four parts sum to it."},
      {"critical-path", "What the steps' end waited for: the critical path by kind and name.",
       critical_path_table, "The steady steps; shares are of their summed time."},
      {"path-kinds", "The critical path by kind, summing to the steps exactly.", path_kind_table,
       "The steady steps; the kinds sum to them."},
      {"slack", "Ops by their time on the critical path, and how much later others could end.",
       slack_table, "The steady steps."},
      {"ranks", "Each rank of the job: its step, whom it waits for and who waits for it.",
       rank_table, "Mean of each rank's steady steps."},
      {"collectives", "Communication by communicator, kind and size: transfer, waits, bandwidth.",
       collective_table, "All communication that is known by communicator and kind."},
      {"host-functions",
       "Functions of the training thread in time that no range tells, by samples.",
       host_function_table, "The steady steps of the first device, or of the training thread."},
      {"processes", "Processes: how long they lived and how they ended.", process_table,
       "The whole recording."},
      {"counters", "Sampled counters: least, mean and largest value.", counter_table,
       "All samples; the mean is over samples, not over time."},
      {"losses", "What was lost or set aside.", loss_table, "The whole trace."},
  });
  return kTables;
}

}  // namespace headway::analyzer
