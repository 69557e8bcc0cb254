// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "collector/doctor/check.h"

namespace headway::doctor {

/// The command that asks a Python interpreter (a path, or a name in PATH) what `headway run` will find in it, with the hook
/// set up as in a recorded run. It imports none of the frameworks. Throws Error when the hook is missing.
std::vector<std::string> python_question(const std::string& program);

/// Judges the answer of that command. `out`: all that the command printed; `why_not`: why `out` may have no answer ("it ended
/// with status 3"), empty when that is not known.
std::vector<Checked> judge_python(const std::string& program, const std::string& out,
                                  const std::string& why_not);

}  // namespace headway::doctor
