// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "cli/mcp/protocol.h"

namespace headway::cli::mcp {

/// The read-only commands as tools: report, stats, whatif, diff, explain. Each call runs the
/// command as the command line would, and returns what it prints.
std::vector<Tool> command_tools();

}  // namespace headway::cli::mcp
