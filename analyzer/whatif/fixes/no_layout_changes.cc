// SPDX-License-Identifier: MIT
// Kernels that only change the order of data in memory, or its type, go away.
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal drop_family(const Predictor& predictor, KernelFamily family, std::string_view what) {
  const DeviceOps& ops = predictor.trace().device_ops;
  auto fits = [&](DeviceOpId op) {
    return ops.kind[op.value] == DeviceOpKind::kKernel &&
           predictor.kernels().of(op).family == family;
  };
  Editor editor(predictor);
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (fits(DeviceOpId{i})) editor.drop_op(DeviceOpId{i});
  }
  if (editor.empty()) return not_here(fmt::format("there are no {}", what));
  DurationNs time = per_step(predictor, [&](DeviceOpId op) {
    return fits(op) ? ops.interval(op).length() : DurationNs{};
  });
  return {true, fmt::format("{} of {} per step go away", format_duration(time), what),
          editor.take()};
}

Proposal propose_layout(const Predictor& predictor) {
  return drop_family(predictor, KernelFamily::kLayoutTransform, "layout changes");
}

Proposal propose_casts(const Predictor& predictor) {
  return drop_family(predictor, KernelFamily::kCast, "casts");
}

}  // namespace

const Fix kNoLayoutChanges{"no-layout-changes",
                           "Keep one memory layout",
                           "layout-transposes",
                           FixKind::kCeiling,
                           0.05,
                           "--layout nhwc",
                           "Kernels that transpose or copy between layouts are not run.",
                           "whether every op has a kernel for the other layout, and how fast it is",
                           propose_layout};

const Fix kNoCasts{"no-casts",
                   "Keep one number type between ops",
                   "amp-casts",
                   FixKind::kCeiling,
                   0.05,
                   "",
                   "Kernels that only convert numbers are not run.",
                   "which of the casts numerics need",
                   propose_casts};

}  // namespace headway::analyzer
