// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "analyzer/diff/diff.h"

namespace headway::analyzer {

/// With fewer steps a side even samples that do not overlap at all are no evidence: the rank test
/// cannot go below 0.05.
inline constexpr std::size_t kLeastStepsASide = 4;

/// Sets the verdicts of `diff` and its sentence from its figures. `comparable`: both sides ran on the
/// same kind of device.
void judge(Diff& diff, bool comparable, double noise);

/// "p = 0.03", "p < 0.001".
std::string p_text(double p);
/// "a change of 1.4 % would be found": the least one with 80 % power, never below `noise`, because
/// smaller ones count as none.
std::string power_text(const Comparison& comparison, double noise);

}  // namespace headway::analyzer
