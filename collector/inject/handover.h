// SPDX-License-Identifier: MIT
#pragma once

#include "collector/wire/hello.h"

namespace headway::inject {

/// Returns `fd`; or, when `fd` has the number of a standard stream that the program has closed, a
/// copy with a higher number (`fd` is closed): output of the program must never go to our
/// descriptor.
int above_standard_streams(int fd);

/// Connects to the recorder's socket, sends `hello` with `fd` attached (when >= 0) and waits for
/// the answer, all within kHelloTimeoutMs. False when there is no recorder, or when it does not
/// answer or refuses. Raises no signal, keeps no descriptor, allocates nothing.
bool hand_over(const char* socket_path, const wire::Hello& hello, int fd, wire::Welcome& welcome);

}  // namespace headway::inject
