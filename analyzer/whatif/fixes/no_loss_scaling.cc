// SPDX-License-Identifier: MIT
// BF16 has the range of FP32, so that no loss is scaled and no gradient unscaled.
#include <fmt/format.h>

#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/fixes/loss_scaling.h"
#include "analyzer/whatif/kernel_bound.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// "sim::unscale", "_amp_foreach_non_finite_check_and_unscale_cuda", "amp_update_scale_cuda_kernel".
bool scales_losses(std::string_view kernel) {
  return kernel.find("unscale") != std::string_view::npos ||
         kernel.find("amp_update_scale") != std::string_view::npos;
}

Proposal propose(const Predictor& predictor) {
  const std::optional<DeviceLimits> limits = limits_of_steps(predictor);
  if (!limits) return not_here("the steps are a host thread's");
  if (!limits->bf16) return not_here("the device does not take BF16");
  Editor editor(predictor);
  const std::int64_t kernels = drop_loss_scaling(predictor.trace(), editor);
  if (kernels == 0) return not_here("no kernel is known to unscale gradients");
  const auto steps =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(predictor.analysis().steps.all.size()));
  Proposal proposal{true,
                    fmt::format("{} kernels per step that unscale gradients go away: BF16 needs "
                                "no scaling of losses",
                                format_count((kernels + steps / 2) / steps)),
                    editor.take()};
  // With casts between products the trainer's switch is half-throughout.
  if (!is_mixed(predictor)) proposal.setting = "--precision bf16";
  return proposal;
}

}  // namespace

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
                         "Kernels that unscale gradients and look for infinities in them go away; "
                         "all other kernels take what they took in FP16.",
                         "whether the training is as good with BF16's shorter fractions",
                         propose};

}  // namespace headway::analyzer
