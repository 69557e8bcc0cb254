// SPDX-License-Identifier: MIT
// Extents of matrix products become multiples of 16 bytes.
#include <fmt/format.h>

#include <cmath>

#include "analyzer/evidence/product_alignment.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_bound.h"
#include "analyzer/whatif/kernel_rates.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const ProductRates rates(predictor);
  const DurationNs least = shortest_kernel(ops);
  Editor editor(predictor);
  bool told = false;
  std::int64_t kernels = 0;
  auto access = [&](DeviceOpId op) {
    return ops.kind[op.value] == DeviceOpKind::kKernel
               ? access_bytes(trace.strings[ops.name[op.value]], predictor.kernels().of(op))
               : 0;
  };
  auto narrow = [&](DeviceOpId op) {
    const int bytes = access(op);
    return bytes > 0 && bytes < kWholeAccess;
  };
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const DeviceOpId op{i};
    told |= access(op) > 0;
    const DurationNs now = ops.interval(op).length();
    if (!narrow(op) || now <= least) continue;
    ++kernels;
    const double share = share_of_aligned_rate(access(op));
    const KernelBound bound = bound_of(predictor, op, rates.of(op) * 1e9 * share);
    const auto working = static_cast<double>((now - least).ns);
    const double left = bound.known() ? bound.share_left(1 / share, 1, working) : share;
    editor.set_op(op, least + DurationNs{std::llround(left * working)}, true);
  }
  if (kernels == 0)
    return not_here(told ? "matrix products already load 16 bytes at once"
                         : "no kernel name shows operand alignment");
  const DurationNs time = per_step(predictor, [&](DeviceOpId op) {
    return narrow(op) ? ops.interval(op).length() : DurationNs{};
  });
  return {true,
          fmt::format("{} of matrix products per step use 16-byte loads", format_duration(time)),
          editor.take()};
}

}  // namespace

const Fix kPadShapes{
    "pad-shapes",
    "Pad matrix product dimensions",
    "gemm-efficiency",
    FixKind::kModelled,
    0.3,
    "",
    "A tensor-core product with 2-, 4- or 8-byte loads takes the longer of its arithmetic at the "
    "aligned rate (3, 2 or 1.33 × as fast) and its bytes, or speeds up by that factor if the "
    "recording has no counts. The extra work of padding is ignored.",
    "the speed of the library's aligned kernel, and which dimensions can be padded",
    propose};

}  // namespace headway::analyzer
