// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/doubt.h"
#include "analyzer/model/finding.h"
#include "analyzer/model/time_class.h"
#include "analyzer/partition/device_view.h"
#include "analyzer/ranks/collectives.h"
#include "analyzer/steps/steps.h"

namespace headway::analyzer {

/// Where a rank's number comes from, in falling order of trust.
enum class RankSource : std::uint8_t {
  kRecorded,  ///< the trace says it
  kFileName,  ///< "…rank3….json"
  kOrder,     ///< place among the files and processes: a guess
};

struct RankIdentity {
  std::int32_t rank = 0;
  RankSource source = RankSource::kRecorded;
};

/// One step on one device of one rank.
struct RankStep {
  std::int64_t number =
      0;                   ///< as the program counts; 0 for the whole span of a trace without steps
  bool steady = true;      ///< figures are over it
  Interval time;           ///< on the device, the rank's own clock
  ClassTimes times;        ///< sums to time.length() exactly
  std::int64_t work = -1;  ///< amount of work in the batch (see WorkMeasure); -1 unknown
  DurationNs forward = {};  ///< of the compute, on a training thread only
  DurationNs backward = {};
};

/// What RankStep::work counts.
enum class WorkMeasure : std::uint8_t { kNone, kFlops, kInputElements };

/// A stretch of a step in which a collective was all that kept the device busy.
struct Exposure {
  std::uint32_t collective = 0;  ///< index into RankSummary::collectives.rows
  std::uint32_t step = 0;        ///< index into RankDevice::steps
  Interval time;
};

/// A device, or the training thread of a rank without any.
struct RankDevice {
  std::int32_t ordinal = 0;
  std::string name;
  bool on_host = false;      ///< the training thread: `view` is empty
  std::uint32_t thread = 0;  ///< then: its index in the rank's trace
  DeviceView view;           ///< `view.device` is an index into the rank's trace
  std::vector<RankStep> steps;
  ClassTimes per_steady_step;  ///< mean over the judged stretch; sums to the step cost
  DurationNs hidden_comm;
  DurationNs hidden_h2d;
  std::int64_t steady_steps = 0;
  std::vector<Exposure> exposures;  ///< of communication, by time
};

/// All that is kept of one rank after its trace is dropped.
struct RankSummary {
  RankIdentity identity;
  std::string file;
  std::int64_t process = -1;  ///< global pid when the file holds several ranks; -1: all of the file
  std::string host;           ///< empty when the trace does not tell
  std::int32_t world_size = 0;
  std::int64_t start_utc_ns = 0;
  std::int64_t events = 0;
  StepSource step_source = StepSource::kNone;
  DurationNs median_step;
  DurationNs step;       ///< step cost of the slowest device: what shares refer to
  DurationNs launching;  ///< by its host, per steady step (launching_time.h); 0 without a device
  WorkMeasure work_measure = WorkMeasure::kNone;
  std::vector<RankDevice> devices;
  Collectives collectives;
  /// Findings about this rank alone. Events of evidence are rows of the trace of several ranks that the
  /// rank was taken from; none for a rank with a separate file.
  std::vector<Finding> findings;
  std::vector<Doubt> doubts;
};

/// Recomputes the means of `device` from its steps.
void average_steps(RankDevice& device);

}  // namespace headway::analyzer
