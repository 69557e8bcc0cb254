// SPDX-License-Identifier: MIT
#include "analyzer/stats/tables.h"

#include <array>

namespace headway::analyzer {

std::span<const TableDeclaration> table_declarations() {
  static constexpr auto kTables = std::to_array<TableDeclaration>({
      {"partition", "Where the steady steps went: time per class, summing to the step exactly.",
       partition_table},
      {"steps", "Every step: number, times on host and device, steady or not.", step_table},
      {"op-types", "Types of ops by device time per steady step.", op_type_table},
      {"ops", "Ops of the model by device time per steady step.", op_table},
      {"kernels", "Kernels by total time over the whole trace.", kernel_table},
      {"kernel-families",
       "Kernels by what they do, told from their names: time, tensor cores, number type.",
       kernel_family_table},
      {"copies", "Copies and memory sets by kind: count, bytes, time, rate.", copy_table},
      {"calls", "API calls by total time over the whole trace.", call_table},
      {"ranges", "NVTX ranges by name: count and times over the whole trace.", range_table},
      {"loaders", "Loader workers by stage: time, bytes, share of the thread's life.",
       loader_table},
      {"devices",
       "Each device over its whole span: compute, exposed communication and copies, idle.",
       device_table},
      {"critical-path", "What the steps' end waited for: the critical path by kind and name.",
       critical_path_table},
      {"path-kinds", "The critical path by kind, summing to the steps exactly.", path_kind_table},
      {"slack", "Ops by their time on the critical path, and how much later others could end.",
       slack_table},
      {"ranks", "Each rank of the job: its step, whom it waits for and who waits for it.",
       rank_table},
      {"collectives", "Communication by communicator, kind and size: transfer, waits, bandwidth.",
       collective_table},
      {"processes", "Processes: how long they lived and how they ended.", process_table},
      {"counters", "Sampled counters: least, mean and largest value.", counter_table},
      {"losses", "What was lost or set aside.", loss_table},
  });
  return kTables;
}

}  // namespace headway::analyzer
