// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "trace/trace.h"

namespace headway::trace::export_detail {

/// A forward op and its backward op, which share autograd's sequence number.
struct AutogradPair {
  RangeId forward;
  RangeId backward;
};
/// All pairs, sorted by sequence number.
std::vector<AutogradPair> autograd_pairs(const Trace& trace);

}  // namespace headway::trace::export_detail
