// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "collector/doctor/check.h"

namespace headway::doctor {

/// The command that asks a Python (a path, or a name in PATH) what `headway run` will find in it, with the hook as a recorded run
/// has it. It imports none of the frameworks. Throws Error where the hook is missing.
std::vector<std::string> python_question(const std::string& program);

/// What that Python answered. `out`: all that the command printed; `why_not`: why there may be no answer in it ("it ended with
/// status 3"), empty where nothing is known.
std::vector<Checked> judge_python(const std::string& program, const std::string& out,
                                  const std::string& why_not);

}  // namespace headway::doctor
