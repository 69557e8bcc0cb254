// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/change.h"
#include "cli/tune/gain.h"

namespace headway::tune {

/// What one fix is predicted to gain; shares of the recorded step.
struct Forecast {
  std::string fix;       ///< id: "remove-syncs"
  std::string switches;  ///< of the trainer, as the fix names them
  bool ceiling = false;  ///< the most that any fix of its kind could gain
  bool applies = false;
  std::string text;  ///< what would be changed, or why it does not apply
  double gain = 0;
  Bounds interval;       ///< 95 %
  double certainty = 1;  ///< how far the recording shows that the fix can be made, 0 to 1
};

/// The predictions for one recording.
struct Forecasts {
  std::string missing;  ///< why nothing can be predicted; empty when it can
  std::vector<Forecast> fixes;
};

/// One run's steady steps and what it took as a whole.
struct Run {
  Block steps;
  double wall_s = 0;
  // Of a run that was recorded as it was measured:
  std::optional<Forecasts> forecasts = {};
  std::optional<double> samples_per_s = {};
  std::string held_back_by = {};  ///< the first finding's title
};

/// The program ended with an error; the text has its exit status and the last lines that it wrote. Or nothing can be
/// learnt from the run, and the text says why.
struct RunFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The run was not done at its limit, and was ended.
struct RunTooLong {};
/// A signal asked to stop; the run was ended.
struct Interrupted {
  int signal = 0;
};

/// What the search asks of the world: tests answer without processes. Every call may throw what is
/// above.
class Runs {
 public:
  virtual ~Runs() = default;
  /// Runs the base command with the change. `limit_s`: how long it may take; 0: as long as it does.
  virtual Run measure(const Change& change, double limit_s) = 0;
  /// Records it and predicts every fix from the recording.
  virtual Forecasts forecast(const Change& change, double limit_s) = 0;
  /// Since the search began.
  virtual double elapsed_s() = 0;
  /// What is being done now, for people.
  virtual void tell(std::string_view doing) = 0;
};

}  // namespace headway::tune
