// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "reference_trainer/oracle/step_truth.h"

namespace headway::trainer {

/// The activity of a simulated rank's launching thread at any time, as a cause of idle time.
class HostTruth {
 public:
  explicit HostTruth(const sim::Recording& recording);

  /// Adds [begin, end) of host time to the classes of `step`.
  void charge(std::int64_t begin, std::int64_t end, StepTruth& step) const;

 private:
  struct Piece {
    std::int64_t start = 0;
    std::int64_t end = 0;
    TruthClass truth = TruthClass::kHostOther;
    std::int64_t batch = -1;  ///< a wait for this batch: its stages give the cause
  };
  void charge_wait(std::int64_t begin, std::int64_t end, std::int64_t batch, StepTruth& step) const;
  static void charge_pieces(const std::vector<Piece>& pieces, std::int64_t begin, std::int64_t end,
                            const auto& inside, const auto& outside);

  std::vector<Piece> calls_;
  std::vector<Piece> waits_;
  std::vector<Piece> ops_;
  std::vector<std::vector<Piece>> stages_;  ///< by batch
};

}  // namespace headway::trainer
