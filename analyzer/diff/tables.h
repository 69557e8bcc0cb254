// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/diff/diff.h"

namespace headway::analyzer {

/// Steady steps of a run on its first device; host steps when there is no device.
std::vector<double> step_durations(const Analysis& analysis);

/// The tables of a diff that have rows: classes, device view, kernel families, ops, kernels, steps.
/// Each has the columns a, b and change; rows that changed most come first, except for classes.
std::vector<Table> diff_tables(DiffSide a, DiffSide b);

/// Pairs the names of both sides: equal names first, then those that differ in numbers only, in the
/// order in which they occur ("layer_12/conv" of A with "layer_13/conv" of B). Returns, per name of
/// B, the index of its partner in A or SIZE_MAX. O(n log n).
std::vector<std::size_t> match_names(const std::vector<std::string>& a,
                                     const std::vector<std::string>& b);

}  // namespace headway::analyzer
