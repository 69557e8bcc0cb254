// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "collector/doctor/check.h"

namespace headway::doctor {

/// What `headway run` will find in this Python: starts `program` (a path, or a name in PATH) once, for at most half a minute, with
/// the hook as a recorded run has it. Imports none of the frameworks.
std::vector<Checked> check_python(const std::string& program);

/// The same of what the started program answered; `folder`: where the hook is. Without an answer `why_not` says why.
std::vector<Checked> judge_python(const std::string& program, const std::string& answer,
                                  const std::string& why_not);

}  // namespace headway::doctor
