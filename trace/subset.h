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

/// A trace with only those events and their collectives. Rows keep their order; processes, threads,
/// devices, streams and texts keep their ids, so only row numbers change. References to rows that
/// were not kept become none. Counters are kept completely, overheads are left out.
Trace take_rows(const Trace& trace, const KeptRows& kept);

}  // namespace headway::trace
