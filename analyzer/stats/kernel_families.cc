// SPDX-License-Identifier: MIT
#include <map>
#include <tuple>

#include "analyzer/kernels/families.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {

Table kernel_family_table(const trace::Trace& trace, const Analysis&) {
  struct Work {
    std::int64_t kernels = 0;
    std::int64_t ns = 0;
  };
  KernelNames names(trace);
  const trace::DeviceOps& ops = trace.device_ops;
  std::map<std::tuple<KernelFamily, trace::MathUnit, Precision>, Work> work;
  std::int64_t all = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] != trace::DeviceOpKind::kKernel &&
        ops.kind[i] != trace::DeviceOpKind::kCommunication)
      continue;
    KernelTraits traits = names.of(trace::DeviceOpId::from(i));
    // The number type of memory-bound kernels only splits their rows.
    if (!is_matrix_work(traits.family)) traits.precision = Precision::kUnknown;
    Work& row = work[{traits.family, traits.math_unit, traits.precision}];
    std::int64_t ns = (ops.end[i] - ops.start[i]).ns;
    ++row.kernels;
    row.ns += ns;
    all += ns;
  }
  Table table{"kernel-families",
              "Families of kernels",
              "Over the whole trace; shares are of the summed kernel time.",
              {},
              {}};
  table.columns = {{"family", "Family", ColumnKind::kText},
                   {"math_unit", "Arithmetic on", ColumnKind::kText},
                   {"precision", "Inputs", ColumnKind::kText},
                   {"count", "Count", ColumnKind::kCount},
                   {"total_ns", "Total", ColumnKind::kDuration},
                   {"share", "Share", ColumnKind::kPercent}};
  for (const auto& [key, row] : work) {
    auto [family, unit, precision] = key;
    std::string_view unit_name = unit == trace::MathUnit::kTensor    ? "tensor cores"
                                 : unit == trace::MathUnit::kGeneral ? "general cores"
                                                                     : "";
    table.rows.push_back({std::string(family_id(family)), std::string(unit_name),
                          std::string(precision_label(precision)), row.kernels, row.ns,
                          ratio({row.ns}, {all})});
  }
  sort_by(table, 4);
  return table;
}

}  // namespace headway::analyzer
