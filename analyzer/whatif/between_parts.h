// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/model/between_cause.h"
#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// Edits a program's work between steps (evaluation, a checkpoint).
class BetweenEditor {
 public:
  BetweenEditor(const Predictor& predictor, BetweenCause cause)
      : predictor_(predictor), cause_(cause) {}

  /// Time of this work per steady step, on the partition whose steps are judged.
  DurationNs per_step() const;
  /// Number of steady steps with this work.
  std::int64_t occasions() const;
  /// Multiplies the time of this work. With 0.5, every second occasion is left out; waits for
  /// batches inside it end at once there.
  Scenario scaled(double by) const;
  /// As scaled(0.5). In addition, if steps after an occasion take longer than others (for example,
  /// because caches are full of other data), the steps after a dropped occasion take the usual
  /// time.
  Scenario half_as_often() const;

 private:
  void drop_waits(Editor& editor, bool all) const;
  void drop_aftermath(Editor& editor) const;
  Scenario scaled(double by, Editor& editor) const;

  const Predictor& predictor_;
  BetweenCause cause_;
};

}  // namespace headway::analyzer
