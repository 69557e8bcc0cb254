// SPDX-License-Identifier: MIT
#include "analyzer/evidence/kernel_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analyzer/partition/steady_ops.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

void add(KernelWork& work, const trace::DeviceOps& ops, trace::DeviceOpId op,
         const KernelTraits& traits) {
  auto family = static_cast<std::size_t>(traits.family);
  DurationNs duration = ops.interval(op).length();
  work.time[family] += duration;
  work.kernels[family] += 1;
  work.architecture = std::max(work.architecture, traits.architecture);
  if (ops.flops[op.value] > 0) {
    work.flops += static_cast<double>(ops.flops[op.value]);
    work.flops_time += duration;
  }
  if (!is_matrix_work(traits.family)) return;
  if (traits.math_unit == trace::MathUnit::kTensor) {
    work.matrix_tensor += duration;
  } else if (traits.math_unit == trace::MathUnit::kGeneral) {
    work.matrix_general += duration;
  } else {
    work.matrix_unsaid += duration;
  }
}

void divide(KernelWork& work, std::int64_t steps) {
  if (steps <= 1) return;
  for (DurationNs& time : work.time) time = time / steps;
  for (double& count : work.kernels) count /= static_cast<double>(steps);
  for (DurationNs* time :
       {&work.matrix_tensor, &work.matrix_general, &work.matrix_unsaid, &work.flops_time})
    *time = *time / steps;
  work.flops /= static_cast<double>(steps);
}

}  // namespace

DurationNs KernelWork::compute() const {
  DurationNs sum = std::accumulate(time.begin(), time.end(), DurationNs{});
  return sum - of(KernelFamily::kCommunication);
}

std::vector<KernelWork> measure_work(const trace::Trace& trace, const Steps& steps,
                                     const std::vector<DevicePartition>& partitions,
                                     const KernelNames& kernels) {
  std::vector<KernelWork> result;
  for (const DevicePartition& partition : partitions) {
    KernelWork& work = result.emplace_back();
    work.device = partition.device;
    std::int64_t counted =
        for_each_steady_op(trace, steps, partition, [&](const DeviceStep&, trace::DeviceOpId op) {
          trace::DeviceOpKind kind = trace.device_ops.kind[op.value];
          if (kind == trace::DeviceOpKind::kKernel || kind == trace::DeviceOpKind::kCommunication)
            add(work, trace.device_ops, op, kernels.of(op));
        });
    divide(work, counted);
  }
  return result;
}

std::string describe(const KernelWork& work) {
  constexpr std::size_t kShown = 4;
  constexpr double kWorthNaming = 0.03;
  std::vector<std::size_t> order(kKernelFamilies);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return work.time[a] > work.time[b]; });
  DurationNs all = std::accumulate(work.time.begin(), work.time.end(), DurationNs{});
  std::string text;
  for (std::size_t i = 0; i < kShown; ++i) {
    double share = ratio(work.time[order[i]], all);
    if (share < kWorthNaming) break;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format_percent(share),
                        family_label(static_cast<KernelFamily>(order[i])));
  }
  if (work.matrix().ns > 0 && work.matrix_unsaid == work.matrix()) {
    text += "; whether its matrix work runs on tensor cores is unknown";
  } else if (work.matrix().ns > 0) {
    text += fmt::format("; {} of its matrix work runs on tensor cores",
                        format_percent(ratio(work.matrix_tensor, work.matrix())));
    // Kernels of unknown units get a share of their own.
    const double unsaid = ratio(work.matrix_unsaid, work.matrix());
    if (unsaid >= kWorthNaming) text += fmt::format(", unknown for {}", format_percent(unsaid));
  }
  return text;
}

}  // namespace headway::analyzer
