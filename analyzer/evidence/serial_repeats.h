// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// The same few kernels, many times in a row on one stream.
struct SerialRepeat {
  std::span<const trace::DeviceOpId> ops;  ///< all of them
  std::size_t period = 0;                  ///< kernels of one repetition
  std::size_t count = 0;                   ///< repetitions
};

/// Calls `visit` for each stretch of a steady step that repeats 3 to 64 kernels at least 8 times.
/// The kernels lie outside the update and contain no matrix work, and at least one does more than
/// arithmetic (index, sort, reduction, copy, pooling). Returns the number of steady steps.
std::int64_t for_each_serial_repeat(const RuleContext& context, const DevicePartition& device,
                                    const std::function<void(const SerialRepeat&)>& visit);

}  // namespace headway::analyzer
