// SPDX-License-Identifier: MIT
#include "analyzer/kernels/families.h"
#include "analyzer/stats/labels.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {

Table kernel_family_table(const trace::Trace& trace, const Analysis&, const Selection& selection) {
  struct Work {
    KernelTraits traits;
    std::int64_t kernels = 0;
    std::int64_t ns = 0;
  };
  KernelNames names(trace);
  const trace::DeviceOps& ops = trace.device_ops;
  KeyGroups groups;
  std::vector<Work> work;
  std::int64_t all = 0;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (is_copy_or_set(ops.kind[i]) || !selection.has(trace::DeviceOpId{i})) continue;
    KernelTraits traits = names.of(trace::DeviceOpId{i});
    // The number type of memory-bound kernels only splits their rows.
    if (!is_matrix_work(traits.family)) traits.precision = Precision::kUnknown;
    std::uint32_t group = groups.of(static_cast<std::uint64_t>(traits.family) << 16 |
                                    static_cast<std::uint64_t>(traits.math_unit) << 8 |
                                    static_cast<std::uint64_t>(traits.precision));
    if (group == work.size()) work.push_back({traits, 0, 0});
    std::int64_t ns = (ops.end[i] - ops.start[i]).ns;
    ++work[group].kernels;
    work[group].ns += ns;
    all += ns;
  }
  Table table{"kernel-families",
              "Kernel families",
              "Over the whole trace; shares are of all kernel time.",
              {},
              {}};
  table.columns = {{"family", "Family", ColumnKind::kText},
                   {"math_unit", "Arithmetic on", ColumnKind::kText},
                   {"precision", "Inputs", ColumnKind::kText},
                   {"count", "Count", ColumnKind::kCount},
                   {"total_ns", "Total", ColumnKind::kDuration},
                   {"share", "Share", ColumnKind::kPercent}};
  for (const Work& row : work) {
    trace::MathUnit unit = row.traits.math_unit;
    std::string_view unit_name = unit == trace::MathUnit::kTensor    ? "tensor cores"
                                 : unit == trace::MathUnit::kGeneral ? "general cores"
                                                                     : "";
    table.rows.push_back({std::string(family_id(row.traits.family)), std::string(unit_name),
                          std::string(precision_label(row.traits.precision)), row.kernels, row.ns,
                          ratio({row.ns}, {all})});
  }
  sort_by(table, 4);
  return table;
}

}  // namespace headway::analyzer
