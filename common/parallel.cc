// SPDX-License-Identifier: MIT
#include "common/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace headway {

void run_parallel(std::size_t count, const std::function<void(std::size_t)>& work, int threads) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> errors(count);
  auto run = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < count;) {
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  std::size_t wanted = threads > 0 ? static_cast<std::size_t>(threads)
                                   : std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(wanted, count); ++i) helpers.emplace_back(run);
    run();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace headway
