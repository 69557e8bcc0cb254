// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/diff/comparison.h"
#include "analyzer/stats/table.h"

namespace headway::analyzer {

enum class DiffVerdict : std::uint8_t { kFaster, kSlower, kSame, kInconclusive };
std::string_view diff_verdict_id(
    DiffVerdict verdict);  ///< "faster", "slower", "same", "inconclusive"

/// One recording of one side.
struct DiffRun {
  const trace::Trace& trace;
  const Analysis& analysis;
};
/// The runs of one side; at least one. Figures per op and kernel are means over the runs.
using DiffSide = std::span<const DiffRun>;

/// What makes the sides two programs instead of one that changed: another model, batch, number of
/// ranks, GPU.
struct Difference {
  std::string what;  ///< "batch"
  std::string a;
  std::string b;
};

/// Rare steps of one side that take far longer than its typical one.
struct SlowSteps {
  std::size_t count = 0;
  std::int64_t every = 0;  ///< steps from one to the next where that is always the same; else 0
  DurationNs longer;       ///< than the typical step, on average
  DurationNs per_step;     ///< what they add to the step cost
};

/// What changed from side A to side B. Changes are relative: -0.2 is 20 % less time.
struct Diff {
  /// On the step cost. The typical step may say something else: then the sentence says both.
  DiffVerdict verdict = DiffVerdict::kInconclusive;
  DiffVerdict typical_verdict = DiffVerdict::kInconclusive;
  std::string sentence;  ///< the verdict with its figures, or the reason for none
  std::string headline;  ///< the verdict alone, for a heading; empty: `sentence` is short enough
  std::vector<Difference> differences;
  std::vector<std::string> doubts;  ///< what makes the sides hard to compare; differences first
  Comparison step;                  ///< step cost; the spans where there are no steps
  Comparison typical;               ///< typical step
  SlowSteps slow_a;
  SlowSteps slow_b;
  std::optional<double> samples_per_s_a;  ///< of all ranks, from the step cost
  std::optional<double> samples_per_s_b;
  std::size_t steps_a = 0;  ///< steady steps in all runs; 0: spans were compared
  std::size_t steps_b = 0;
  std::vector<Table> tables;          ///< what changed, in the order to show; none is empty
  std::vector<std::string> findings;  ///< "input-bound: 20 % → fine"

  /// The table with that id; nullptr when there is nothing to show.
  const Table* table(std::string_view id) const;
};

/// Compares the step cost and the typical step. Changes below `noise` (a share, e.g. 0.01) count as none even when they
/// are significant.
Diff diff(DiffSide a, DiffSide b, double noise = 0.01);

enum class DiffFormat : std::uint8_t { kText, kMarkdown, kJson, kHtml };
/// `max_rows` of each table, in all formats but JSON.
std::string render(DiffFormat format, const Diff& diff, DiffSide a, DiffSide b,
                   std::size_t max_rows = 12);

}  // namespace headway::analyzer
