// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

namespace headway {

/// Calls `work(i)` for each i below `count`, on `threads` threads (0: as many as the machine has
/// cores, at most 8); which thread takes which is open, so `work` writes to places of its own. Returns
/// when all are done. The exception of the lowest index that threw is thrown on. On the calling thread
/// alone when one thread is enough.
void run_parallel(std::size_t count, const std::function<void(std::size_t)>& work, int threads = 0);

}  // namespace headway
