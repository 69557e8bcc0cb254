// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/partition/gap_facts.h"
#include "analyzer/partition/partition.h"
#include "analyzer/steps/steps.h"

namespace headway::analyzer {

/// Partitions the training thread of each process that has steps but no work on a device, and appends
/// the results: ops are compute (inside the update: the optimizer), communication between ranks and
/// waits for input are what they say, the rest is the host's. Where the training thread has no op of
/// its own, another thread of the process may work or communicate for it. In a trace without steps and
/// without device work, the whole span of each process's busiest thread counts.
void partition_hosts(const GapFacts& facts, const Steps& steps,
                     std::vector<DevicePartition>& partitions);

}  // namespace headway::analyzer
