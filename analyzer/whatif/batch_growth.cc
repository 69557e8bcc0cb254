// SPDX-License-Identifier: MIT
#include "analyzer/whatif/batch_growth.h"

#include <algorithm>
#include <cmath>

#include "analyzer/evidence/product_waves.h"
#include "analyzer/hardware/gpus.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/kernel_bound.h"

namespace headway::analyzer {
namespace {

constexpr double kTwice = 2;

}  // namespace

BatchGrowth::BatchGrowth(const Predictor& predictor, double power, TimePerByte per_byte)
    : predictor_(predictor),
      rates_(predictor),
      memory_(predictor),
      fixed_(predictor),
      least_(shortest_kernel(predictor.trace().device_ops)),
      power_(power),
      per_byte_(per_byte) {
  const std::uint16_t architecture =
      predictor.analysis().work[predictor.steps().partition].architecture;
  for (const trace::Device& device : predictor.trace().devices)
    multiprocessors_.push_back(limits_of(device, architecture).multiprocessors);
}

/// Growth of a kernel's time by its work. For a product, fixed bytes count only if the recording
/// has its arithmetic and bytes.
double BatchGrowth::times(trace::DeviceOpId op) const {
  if (fixed_.are_all_of(op)) return 1;
  if (predictor_.trace().device_ops.kind[op.value] != trace::DeviceOpKind::kKernel ||
      !is_matrix_work(predictor_.kernels().of(op).family))
    return kTwice;
  const double fixed = fixed_.share_of(op);
  const KernelBound bound = bound_of(predictor_, op, 1e9 * rates_.of(op));
  if (fixed <= 0 || !bound.known()) return kTwice;
  return std::max(kTwice * bound.arithmetic_ns, (kTwice - fixed) * bound.memory_ns) /
         std::max(bound.arithmetic_ns, bound.memory_ns);
}

DurationNs BatchGrowth::doubled(trace::DeviceOpId op) const {
  const trace::DeviceOps& ops = predictor_.trace().device_ops;
  const trace::DeviceId device = predictor_.trace().streams[ops.stream[op.value].value].device;
  const std::int32_t processors = multiprocessors_[device.value];
  const auto blocks = static_cast<double>(ops.blocks[op.value]);
  const double better =
      wave_fill(2 * blocks, processors, power_) / wave_fill(blocks, processors, power_);
  const double more = std::max(0.0, std::min(times(op), kTwice / better) - 1) *
                      memory_.share_of_bytes(op, per_byte_);
  const DurationNs now = ops.interval(op).length();
  const auto working = static_cast<double>(std::max<std::int64_t>(0, (now - least_).ns));
  return now + DurationNs{std::llround(working * more)};
}

}  // namespace headway::analyzer
