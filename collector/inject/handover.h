// SPDX-License-Identifier: MIT
#pragma once

#include "collector/wire/hello.h"

namespace headway::inject {

/// `fd`, or a copy of it with a higher number (the first is closed) when it is that of a standard
/// stream which the program has closed: its output must not come here, however briefly.
int above_standard_streams(int fd);

/// Connects to the recorder's socket, sends `hello` with `fd` attached (when >= 0) and waits for
/// the answer, all within kHelloTimeoutMs. False when there is no recorder, it did not answer, or
/// it refused. Raises no signal, keeps no descriptor, allocates nothing.
bool hand_over(const char* socket_path, const wire::Hello& hello, int fd, wire::Welcome& welcome);

}  // namespace headway::inject
