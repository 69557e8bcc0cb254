// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/ranks/job.h"

/// The parts of combine(), for its own files and tests.
namespace headway::analyzer {

/// True when someone waited long enough at the collective for its last member to count as late.
bool is_late(const MatchedCollective& collective);
/// The part of an exposed stretch in which the rank only waited for others to arrive.
DurationNs waited_in(const JobAnalysis& job, std::uint32_t rank, const Exposure& exposure);

/// caused_wait and cause of every rank (stragglers.cc).
void add_stragglers(JobAnalysis& job);
/// Compute over ranks and its relation to the batches' work (imbalance.cc).
void add_imbalance(JobAnalysis& job);
/// What the reader must know of the job as a whole (job_doubts.cc).
void add_job_doubts(JobAnalysis& job);

/// Steps that every rank with a device has, steady on all, by number: index of the step on each
/// rank's main device. `ranks` lists the ranks with a device.
struct CommonSteps {
  std::vector<std::uint32_t> ranks;
  std::vector<std::int64_t> numbers;
  std::vector<std::vector<std::uint32_t>> of;  ///< [step][position in `ranks`]
};
CommonSteps common_steps(const JobAnalysis& job);

}  // namespace headway::analyzer
