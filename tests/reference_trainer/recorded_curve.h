// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "reference_trainer/train/run_result.h"

namespace headway::test {

/// Compares a run's losses with tests/reference_trainer/recorded/NAME.txt, which scripts/record_loss_curves.sh writes: means of 20
/// steps each, as single losses of one rounding and another are soon far apart.
inline void check_curve(const trainer::RunResult& result, const std::string& name) {
  CAPTURE(name);
  std::ifstream file(std::string(HEADWAY_SOURCE_DIR) + "/tests/reference_trainer/recorded/" + name +
                     ".txt");
  std::size_t i = 0;
  for (double recorded = 0; file >> recorded;) {
    double sum = 0;
    for (const std::size_t end = i + 20; i < end; ++i) {
      REQUIRE(i < result.steps.size());
      sum += *result.steps[i].loss;
    }
    CAPTURE(i);
    CHECK(std::abs(sum / 20 - recorded) < 0.1 * recorded + 0.02);
  }
  CHECK(i == result.steps.size());
}

}  // namespace headway::test
