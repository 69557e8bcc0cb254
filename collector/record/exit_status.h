// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>

namespace headway::record {

/// The status of an ended process that is the child of another process, as waitpid() gives it to the parent. Call it right
/// after the pidfd became readable: /proc has the status until the parent has called waitpid(); from Linux 6.15 on the
/// descriptor has it afterwards. Nullopt when neither has it.
std::optional<int> exit_status_of(int pidfd, pid_t pid);

}  // namespace headway::record
