// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/partition/partition.h"
#include "analyzer/steps/steps.h"

namespace headway::analyzer {

/// A function that samples of the training thread's stack show in time that no range explains.
struct SampledWork {
  std::string function;  ///< "CartPoleEnv.step"
  std::string place;     ///< "gymnasium/envs/cartpole.py:171": where in it most of the time passes
  std::string from;  ///< "train (dqn.py:180)": the loop's line that calls it; empty: it is the loop
  DurationNs per_step;  ///< without the functions that have their own entry
  std::int64_t samples = 0;
};

struct SampledWorks {
  std::vector<SampledWork> works;  ///< longest first; those of less than 3 samples are left out
  DurationNs per_step;             ///< of `works` together
  std::int64_t samples = 0;        ///< all, in the steady steps
};

/// Shares out the time of `partition`'s steady steps that is the host's own, unknown, or between the
/// steps without a cause, by the time that samples in it stand for. Functions that take 2 % of the step
/// have their own entry; inside PyTorch only the outermost one has. Empty below 10 samples.
SampledWorks sampled_works(const trace::Trace& trace, const Steps& steps,
                           const DevicePartition& partition);
/// The same for other time of the thread: `intervals`, in order.
SampledWorks sampled_works(const trace::Trace& trace, const Steps& steps,
                           const DevicePartition& partition, std::span<const Interval> intervals);

/// "CartPoleEnv.step (gymnasium/envs/cartpole.py:171)".
std::string function_text(const SampledWork& work);

}  // namespace headway::analyzer
