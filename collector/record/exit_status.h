// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>

namespace headway::record {

/// How a process ended that is the child of another one, as waitpid() tells its parent. Asked right after its pidfd became
/// readable: /proc tells until the parent has asked, and from Linux 6.15 on the descriptor from then on. None where neither does.
std::optional<int> exit_status_of(int pidfd, pid_t pid);

}  // namespace headway::record
