// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/stats/table.h"
#include "common/statistics.h"

namespace headway::analyzer {

enum class DiffVerdict : std::uint8_t { kFaster, kSlower, kSame, kInconclusive };
std::string_view diff_verdict_id(
    DiffVerdict verdict);  ///< "faster", "slower", "same", "inconclusive"

/// What changed from run A to run B. Changes are relative: -0.2 is 20 % less time.
struct Diff {
  DiffVerdict verdict = DiffVerdict::kInconclusive;
  std::string sentence;  ///< the verdict with its figures
  DurationNs step_a;     ///< median steady step
  DurationNs step_b;
  double change = 0;   ///< step_b / step_a - 1
  Bounds interval;     ///< 95 % bootstrap interval of `change`
  double p_value = 1;  ///< Mann-Whitney, two-sided
  double detectable =
      0;  ///< half the width of the interval: smaller changes than this would not have been seen
  Table classes;                      ///< time per class and step in A and B
  Table ops;                          ///< ops by how much they changed
  std::vector<std::string> findings;  ///< "input-bound: found -> fine"
};

struct DiffSide {
  const trace::Trace& trace;
  const Analysis& analysis;
};

/// Compares steady steps. Changes below `noise` (a share, e.g. 0.01) count as none even when they
/// are significant.
Diff diff(const DiffSide& a, const DiffSide& b, double noise = 0.01);

std::string diff_text(const Diff& diff, const DiffSide& a, const DiffSide& b);
std::string diff_json(const Diff& diff, const DiffSide& a, const DiffSide& b);

}  // namespace headway::analyzer
