// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "analyzer/stats/table.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// "forward"; "" when unknown.
std::string_view phase_label(trace::Phase phase);
/// "device 0 (NVIDIA H100)"; "host" for none.
std::string device_label(const trace::Trace& trace, trace::DeviceId id);
/// Amount per second as a cell; "not known" without an amount or a time.
Cell rate_cell(std::int64_t amount, std::int64_t ns);
/// For copies and sets of memory, not kernels or communication.
bool is_copy_or_set(trace::DeviceOpKind kind);

}  // namespace headway::analyzer
