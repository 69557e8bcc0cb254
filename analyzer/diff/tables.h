// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/diff/diff.h"

namespace headway::analyzer {

/// The device or training thread with the highest step cost; null without steady steps.
const DevicePartition* slowest_partition(const Analysis& analysis);

/// The length of each steady step of a run on slowest_partition(), with the time up to the next step, in
/// the order of time: the mean is the step cost. Host steps when nothing was partitioned; empty without steps.
std::vector<double> step_durations(const Analysis& analysis);

/// The tables of a diff that have rows: classes, device view, kernel families, ops, kernels, steps.
/// Each has the columns a, b and change; rows that changed most come first, except for classes.
std::vector<Table> diff_tables(DiffSide a, DiffSide b);

/// Of a table of ops, kernels or their kinds: the rows that changed, and in the note how many did
/// not. Other tables are returned unchanged. Rows are sorted by change, so those left keep their places.
Table changed_rows(Table table);

/// Pairs the names of both sides: equal names first, then those that differ in numbers only, in the
/// order in which they occur ("layer_12/conv" of A with "layer_13/conv" of B). Returns, per name of
/// B, the index of its partner in A or SIZE_MAX. O(n log n).
std::vector<std::size_t> match_names(const std::vector<std::string>& a,
                                     const std::vector<std::string>& b);

}  // namespace headway::analyzer
