// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

namespace headway {

/// Calls `work(i)` for each i below `count` on `threads` threads (0: one per core, at most 8) and
/// returns when all calls are done. Calls run in any order and on any of the threads, so each call
/// must write to its own data. If calls throw, the exception of the lowest index is rethrown. Runs
/// on the calling thread alone when one thread is enough.
void run_parallel(std::size_t count, const std::function<void(std::size_t)>& work, int threads = 0);

}  // namespace headway
