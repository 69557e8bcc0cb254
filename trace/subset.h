// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace headway::trace {

/// Rows of each event table, ascending.
struct KeptRows {
  std::vector<std::uint32_t> ranges;
  std::vector<std::uint32_t> calls;
  std::vector<std::uint32_t> device_ops;
  std::vector<std::uint32_t> io;
};

/// The trace with only those events, and the collectives of them. Rows keep their order; processes,
/// threads, devices, streams and texts keep their ids, so only row numbers change. References to
/// rows that were not kept become none. Counters stay whole, overheads are left out.
Trace take_rows(const Trace& trace, const KeptRows& kept);

}  // namespace headway::trace
