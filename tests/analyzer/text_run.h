// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace headway::test {

/// A run written in the language of the planted cases (tests/planted/README.md), analysed. Without
/// jitter, so that figures are exact.
struct TextRun {
  explicit TextRun(const std::string& program);

  trace::Trace trace;
  analyzer::Analysis analysis;
  const analyzer::Finding& finding(std::string_view rule) const;
};

/// A healthy body of a step, four spaces deep: `kernels` of `us` microseconds with tensor cores,
/// launched every 8 us, and an update.
std::string healthy_step(int kernels = 20, int us = 500);

}  // namespace headway::test
