// SPDX-License-Identifier: MIT
// threads COUNT TOGETHER: COUNT threads that record 10 ranges each; TOGETHER 1: all alive at once.
// Some record from a thread-exit destructor, when the library has already given the ring back.
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <unistd.h>

#include <barrier>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

struct AtThreadExit {
  bool armed = false;
  ~AtThreadExit() {
    if (armed) nvtxMarkA("at thread exit");
  }
};
thread_local AtThreadExit t_at_exit;

pthread_key_t g_late_key;

void late(void*) {
  nvtxMarkA("late");
}

void record_some(int number) {
  if (number % 10 == 0) t_at_exit.armed = true;
  if (number % 10 == 1) ::pthread_setspecific(g_late_key, &g_late_key);
  if (number == 0) ::pthread_setname_np(::pthread_self(), "the zeroth");
  for (int i = 0; i < 10; ++i) {
    nvtxRangePushA("on a thread");
    nvtxRangePop();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int count = std::atoi(argv[1]);
  bool together = std::atoi(argv[2]) != 0;
  nvtxMarkA("main");
  ::pthread_key_create(&g_late_key, late);  // after the library's own: runs after it
  if (!together) {
    for (int i = 0; i < count; ++i) std::thread(record_some, i).join();
    return 0;
  }
  std::barrier barrier(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&barrier, i] {
      record_some(i);
      barrier.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
}
