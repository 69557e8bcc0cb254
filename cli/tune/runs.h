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

/// The predicted gain of one fix; shares of the recorded step.
struct Forecast {
  std::string fix;       ///< id: "remove-syncs"
  std::string switches;  ///< the trainer's switches, as the fix names them
  bool ceiling = false;  ///< the most that any fix of its kind could gain
  bool applies = false;
  std::string text;  ///< what would change, or why the fix does not apply
  double gain = 0;
  Bounds interval;       ///< 95 %
  double certainty = 1;  ///< how clearly the recording shows that the fix is possible, 0 to 1
};

/// The predictions for one recording.
struct Forecasts {
  std::string missing;  ///< why nothing can be predicted; empty when it can
  std::vector<Forecast> fixes;
};

/// The steady steps of one run, and the figures of the run as a whole.
struct Run {
  Block steps;
  double wall_s = 0;
  // Only for a run that was recorded while it was measured:
  std::optional<Forecasts> forecasts = {};
  std::optional<double> samples_per_s = {};
  std::string held_back_by = {};  ///< the first finding's title
};

/// The program ended with an error: the text has its exit status and its last lines. Or the run
/// gives no usable result, and the text says why.
struct RunFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The run was not finished at its time limit, and was ended.
struct RunTooLong {};
/// The user asked to stop by a signal; the run was ended.
struct Interrupted {
  int signal = 0;
};

/// The search's interface to the outside; tests replace it without processes. Every call may throw
/// the types above.
class Runs {
 public:
  virtual ~Runs() = default;
  /// Runs the base command with the change. `limit_s`: time limit; 0: none.
  virtual Run measure(const Change& change, double limit_s) = 0;
  /// Records the command with the change and predicts every fix from the recording.
  virtual Forecasts forecast(const Change& change, double limit_s) = 0;
  /// Seconds since the search began.
  virtual double elapsed_s() = 0;
  /// Shows the user what is being done.
  virtual void tell(std::string_view doing) = 0;
};

}  // namespace headway::tune
