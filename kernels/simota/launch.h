// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "kernels/cuda/launch.h"
#include "kernels/simota/op.h"

namespace headway::kernels::cuda {

struct SimotaParameters {
  Simota op;
};

/// The passes of SimOTA (kernels/simota/op.h), one kernel each. Boxes, anchors, regions and offsets
/// lie at multiples of 16 bytes.
Launch simota_decode(const Limits& limits, const Simota& op);
Launch simota_overlaps(const Limits& limits, const Simota& op);
Launch simota_costs(const Limits& limits, const Simota& op);
/// A block per box reads its IoUs and costs once: each thread keeps the ten best that it sees, and
/// the block merges these lists.
Launch simota_topk(const Limits& limits, const Simota& op);
/// Each anchor looks for its box, so that nothing is scattered.
Launch simota_targets(const Limits& limits, const Simota& op);

/// In the order of kSimotaPasses.
inline constexpr std::array kSimotaLaunches = {simota_decode, simota_overlaps, simota_costs,
                                               simota_topk, simota_targets};
static_assert(kSimotaLaunches.size() == kSimotaPasses.size());

}  // namespace headway::kernels::cuda
