// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

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
  /// Multiplies the time of this work. Waits for batches end at once inside every second occasion;
  /// with 0, inside each.
  Scenario scaled(double by) const;
  /// Leaves out every second occasion; a last one without a pair takes half as long. Waits for
  /// batches inside it end at once. If steps after an occasion take longer than others (for
  /// example, because caches are full of other data), the steps after a dropped occasion take the
  /// usual time.
  Scenario half_as_often() const;

 private:
  std::vector<bool> parts_of_cause() const;  ///< by PartId
  void drop_waits(Editor& editor, bool all) const;
  void drop_aftermath(Editor& editor) const;
  void drop_every_second(Editor& editor) const;
  void scale_parts(Scenario& scenario, double by) const;

  const Predictor& predictor_;
  BetweenCause cause_;
};

}  // namespace headway::analyzer
