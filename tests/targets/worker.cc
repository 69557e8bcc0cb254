// SPDX-License-Identifier: MIT
// worker SIDE_FILE PROCESSES THREADS ENDING [RANGES [KIND]]
// Records ranges on THREADS threads of each of PROCESSES processes and, after each range, counts it in
// SIDE_FILE, which survives any death. The range of counter i is called "slot i". KIND is what the
// processes are: fork (the first and its forked children, the default), spawn (the children are programs
// of their own), or ranks (one of PROCESSES that mpirun starts). ENDING is how each process ends after
// RANGES ranges per thread and once all others have made as many: return, exit, kill, segv, abort, or
// wait (for ever: the test ends it). A third kind of survivor, "ignore", ignores SIGINT (and SIGHUP) and
// ends when it finds the file SIDE_FILE.stop. Without its SIDE_FILE, whose test is over, no process goes on for ever.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Counter = std::atomic<std::uint64_t>;
constexpr int kMaxSlots = 64;

void record_ranges(Counter& counter, int slot, long ranges) {
  std::string name = "slot " + std::to_string(slot);
  for (long i = 0; ranges < 0 || i < ranges; ++i) {
    nvtxRangePushA(name.c_str());
    nvtxRangePop();
    counter.fetch_add(1);
    if (i % 100 == 99) ::usleep(500);  // within what the recorder can take
  }
}

void work(Counter* counters, int process, int threads, long ranges) {
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) {
    int slot = process * threads + t;
    others.emplace_back([=] { record_ranges(counters[slot], slot, ranges); });
  }
  record_ranges(counters[process * threads], process * threads, ranges);
  for (std::thread& other : others) other.join();
}

/// The first to end may take the others with it, as under mpirun.
void wait_for_all(const Counter* counters, int slots, long ranges) {
  for (int slot = 0; slot < slots; ++slot) {
    while (ranges >= 0 && counters[slot].load() < static_cast<std::uint64_t>(ranges)) ::usleep(500);
  }
}

int own_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
}

[[noreturn]] void finish(const std::string& how) {
  if (how == "exit") ::_exit(7);
  if (how == "kill") ::kill(::getpid(), SIGKILL);
  if (how == "segv") *static_cast<volatile int*>(nullptr) = 1;
  if (how == "abort") std::abort();
  std::exit(5);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  std::string side = argv[1];
  int processes = std::atoi(argv[2]);
  int threads = std::atoi(argv[3]);
  std::string ending = argv[4];
  bool forever = ending == "wait" || ending == "ignore";
  long ranges = forever ? -1 : (argc > 5 ? std::atol(argv[5]) : 1000);
  const std::string kind = argc > 6 ? argv[6] : "fork";
  // "child=2": the process of that number of those that were spawned.
  const int own = kind == "ranks"             ? own_rank()
                  : kind.starts_with("child") ? std::atoi(kind.c_str() + 6)
                                              : 0;
  int fd = ::open(side.c_str(), O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ::ftruncate(fd, kMaxSlots * sizeof(Counter)) != 0) return 2;
  auto* counters = static_cast<Counter*>(
      ::mmap(nullptr, kMaxSlots * sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (ending == "ignore") {
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);  // the test's recorder leads the session: its end hangs up
  }
  if (forever) {
    std::thread([&] {
      const std::string stop = ending == "ignore" ? side + ".stop" : "";
      while (::access(side.c_str(), F_OK) == 0 && ::access(stop.c_str(), F_OK) != 0)
        ::usleep(10'000);
      ::_exit(0);
    }).detach();
  }
  nvtxMarkA("before the fork");
  for (int p = 1; p < processes && (kind == "fork" || kind == "spawn"); ++p) {
    if (kind == "spawn") {
      const std::string number = "child=" + std::to_string(p);
      const std::string count = std::to_string(ranges);
      char* arguments[] = {argv[0],
                           argv[1],
                           argv[2],
                           argv[3],
                           argv[4],
                           const_cast<char*>(count.c_str()),
                           const_cast<char*>(number.c_str()),
                           nullptr};
      pid_t child = 0;
      if (::posix_spawn(&child, argv[0], nullptr, nullptr, arguments, environ) != 0) return 2;
    } else if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      work(counters, p, threads, ranges);
      finish(ending);
    }
  }
  if (kind.starts_with("child")) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  work(counters, own, threads, ranges);
  if (own > 0 || kind == "ranks") {
    wait_for_all(counters, processes * threads, ranges);
    finish(ending);
  }
  while (::wait(nullptr) > 0) {
  }
  finish(ending);
}
