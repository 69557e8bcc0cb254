// SPDX-License-Identifier: MIT
// BF16 has the range of FP32, so that no loss is scaled and no gradient unscaled.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/fixes/loss_scaling.h"
#include "analyzer/whatif/kernel_bound.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal propose(const Predictor& predictor) {
  const std::optional<DeviceLimits> limits = limits_of_steps(predictor);
  if (!limits) return not_here("the steps run on a host thread");
  if (!limits->bf16) return not_here("the device does not support BF16");
  Editor editor(predictor);
  const std::int64_t kernels = drop_loss_scaling(predictor.trace(), editor);
  if (kernels == 0) return not_here("no kernel is known to unscale gradients");
  const auto steps =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(predictor.analysis().steps.all.size()));
  Proposal proposal{true,
                    fmt::format("saves {} unscale kernels per step: BF16 needs no loss scaling",
                                format_count((kernels + steps / 2) / steps)),
                    editor.take()};
  // With casts between products the trainer's switch is half-throughout.
  if (!is_mixed(predictor)) proposal.setting = "--precision bf16";
  return proposal;
}

}  // namespace

/// "sim::unscale", "_amp_foreach_non_finite_check_and_unscale_cuda", "amp_update_scale_cuda_kernel".
bool scales_losses(std::string_view kernel) {
  return kernel.find("unscale") != std::string_view::npos ||
         kernel.find("amp_update_scale") != std::string_view::npos;
}

void add_loss_scaling(const Predictor& predictor, Editor& editor) {
  // Of what the first kernel of a parameter's update moves, gradients that are read and written once more: of a weight, its
  // gradient and a moment two of three, of a kernel that does the whole update two of six.
  constexpr double kOfFirst = 0.7;
  constexpr double kOfWhole = 0.35;
  const DeviceOps& ops = predictor.trace().device_ops;
  const Attribution& attribution = predictor.analysis().attribution;
  const Points& points = predictor.program().graph().points();
  const DurationNs least = shortest_kernel(ops);
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<DeviceOpId>> updates;
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (ops.kind[i] == DeviceOpKind::kKernel && attribution.phase_of[i] == Phase::kUpdate)
      updates[{attribution.op_of[i].value, ops.batch[i]}].push_back(DeviceOpId{i});
  for (const auto& [what, kernels] : updates) {
    const DeviceOpId first = kernels.front();
    const DurationNs now = ops.interval(first).length();
    const auto moving = static_cast<double>(std::max<std::int64_t>(0, (now - least).ns));
    const double share = kernels.size() > 1 ? kOfFirst : kOfWhole;
    editor.set_duration(points.task(first), now + least + DurationNs{std::llround(share * moving)},
                        true);
    if (const CallId call = ops.call[first.value]; call.valid()) editor.repeat_call(call, 2);
  }
}

std::int64_t drop_loss_scaling(const Trace& trace, Editor& editor) {
  std::vector<bool> scales(trace.strings.size());
  for (std::uint32_t i = 0; i < trace.strings.size(); ++i)
    scales[i] = scales_losses(trace.strings[StringId{i}]);
  std::int64_t kernels = 0;
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    if (trace.device_ops.kind[i] != DeviceOpKind::kKernel ||
        !scales[trace.device_ops.name[i].value])
      continue;
    editor.drop_op(DeviceOpId{i});
    ++kernels;
  }
  return kernels;
}

const Fix kNoLossScaling{"no-loss-scaling",
                         "Compute in BF16 instead of FP16",
                         "amp-casts",
                         FixKind::kModelled,
                         0.2,
                         "",
                         "Kernels that unscale gradients and check for infinities disappear; all "
                         "other kernels keep their FP16 time.",
                         "training quality with BF16's shorter mantissa",
                         propose};

}  // namespace headway::analyzer
