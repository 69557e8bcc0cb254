// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/model/between_cause.h"
#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// Edits what a program does that belongs to no step (evaluation, a checkpoint).
class BetweenEditor {
 public:
  BetweenEditor(const Predictor& predictor, BetweenCause cause)
      : predictor_(predictor), cause_(cause) {}

  /// Time per steady step that it takes where steps are judged.
  DurationNs per_step() const;
  /// In so many of the steady steps.
  std::int64_t occasions() const;
  /// Multiplies it. With 0.5 every second occasion is left out; batches that are waited for in it are
  /// there at once in those.
  Scenario scaled(double by) const;
  /// As scaled(0.5), and steps that come after one that is left out take what other steps take, where those after one
  /// take longer: they find the caches full of other data.
  Scenario half_as_often() const;

 private:
  void drop_waits(Editor& editor, bool all) const;
  void drop_aftermath(Editor& editor) const;
  Scenario scaled(double by, Editor& editor) const;

  const Predictor& predictor_;
  BetweenCause cause_;
};

}  // namespace headway::analyzer
