// SPDX-License-Identifier: MIT
// Whether ops use tensor cores: those that could and do, those that could and do not, and the rest.
#include <fmt/format.h>

#include <map>

#include "analyzer/kernels/families.h"
#include "analyzer/stats/labels.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Device time of an op, by what its kernels compute on.
struct Use {
  DurationNs tensor;
  DurationNs general;     ///< matrix work on other cores
  DurationNs unsaid;      ///< matrix work whose kernels do not say
  DurationNs not_matrix;  ///< no tensor core could help
  DurationNs unknown;     ///< nothing is known of the kernel

  DurationNs eligible() const { return tensor + general + unsaid; }
  DurationNs all() const { return eligible() + not_matrix + unknown; }
};

void add(const KernelTraits& traits, DurationNs time, Use& use) {
  if (traits.family == KernelFamily::kUnknown && traits.math_unit == MathUnit::kUnknown) {
    use.unknown += time;
  } else if (traits.math_unit == MathUnit::kTensor) {
    use.tensor += time;
  } else if (!is_matrix_work(traits.family)) {
    use.not_matrix += time;
  } else {
    (traits.math_unit == MathUnit::kGeneral ? use.general : use.unsaid) += time;
  }
}

std::string verdict_of(const Use& use) {
  if (use.eligible().ns == 0) return use.unknown > use.not_matrix ? "unknown" : "not eligible";
  if (use.tensor * 2 >= use.eligible()) return "uses";
  return use.unsaid > use.general ? "unknown" : "eligible, does not";
}

}  // namespace

Table tensor_core_table(const Trace& trace, const Analysis& analysis, const Selection& selection) {
  const KernelNames kernels(trace);
  std::map<std::uint32_t, Use> uses;  // by op
  std::int64_t steps = 0;
  for (const DevicePartition& partition : analysis.partitions) {
    steps += for_each_selected_op(trace, analysis, partition, selection, [&](DeviceOpId op) {
      const KernelTraits traits = kernels.of(op);
      if (is_copy_or_set(trace.device_ops.kind[op.value]) ||
          traits.family == KernelFamily::kCommunication)
        return;
      add(traits, trace.device_ops.interval(op).length(),
          uses[analysis.attribution.op_of[op.value].value]);
    });
  }
  steps = std::max<std::int64_t>(1, steps);
  Table table{"tensor-cores",
              "Ops and tensor cores",
              "Kernel time per step. Eligible is matrix work: products, convolutions, attention, "
              "recurrent cells.",
              {},
              {}};
  table.columns = {{"op", "Op", ColumnKind::kText},
                   {"type", "Type", ColumnKind::kText},
                   {"use", "Tensor cores", ColumnKind::kText},
                   {"eligible_ns", "Eligible", ColumnKind::kDuration},
                   {"tensor_ns", "On them", ColumnKind::kDuration},
                   {"general_ns", "On others", ColumnKind::kDuration},
                   {"unsaid_ns", "Not told", ColumnKind::kDuration},
                   {"not_eligible_ns", "Not eligible", ColumnKind::kDuration},
                   {"used", "Used", ColumnKind::kPercent}};
  for (const auto& [id, use] : uses) {
    const ModelOp& op = analysis.attribution.ops[id];
    table.rows.push_back(
        {op.name, op.type, verdict_of(use), (use.eligible() / steps).ns, (use.tensor / steps).ns,
         (use.general / steps).ns, (use.unsaid / steps).ns,
         ((use.not_matrix + use.unknown) / steps).ns,
         use.eligible().ns > 0 ? Cell(ratio(use.tensor, use.eligible())) : Cell()});
  }
  sort_by(table, 3);
  return table;
}

}  // namespace headway::analyzer
