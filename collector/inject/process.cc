// SPDX-License-Identifier: MIT
#include "collector/inject/process.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "collector/inject/clock.h"
#include "collector/inject/definitions.h"
#include "collector/inject/handover.h"
#include "collector/inject/thread.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace headway::inject {
namespace {

// Holds the state until set_up_process() has made the real page. It stays in use when the kernel
// has no MADV_WIPEONFORK (before 4.14); then only pthread_atfork notices forks.
constinit ForkPage g_static_page{};

enum class SetUp : std::uint32_t { kPending, kDone, kNotRecorded };
constinit std::atomic<SetUp> g_set_up{SetUp::kPending};
constinit FutexLock g_set_up_lock{};
constinit char g_session[sizeof(sockaddr_un::sun_path)] = {};

constinit thread_local bool t_locked_for_fork __attribute__((tls_model("initial-exec"))) = false;

/// Holds the lock across fork(), so that the child does not inherit half a definition. Not when
/// fork() is called in a signal handler that interrupted this library: this thread may hold the
/// lock.
void before_fork() {
  t_locked_for_fork = t_entry.busy == 0;
  if (t_locked_for_fork) g_process.page->lock.lock();
}

void after_fork_in_parent() {
  if (t_locked_for_fork) g_process.page->lock.unlock();
}

void after_fork_in_child() {
  // Does what MADV_WIPEONFORK has done already where the kernel has it.
  g_process.page->generation.store(0, std::memory_order_relaxed);
  g_process.page->mode.store(Mode::kFresh, std::memory_order_relaxed);
  new (&g_process.page->lock) FutexLock;
  for (auto* early : {&g_process.page->early_reads, &g_process.page->early_read_bytes,
                      &g_process.page->early_writes, &g_process.page->early_written_bytes})
    early->store(0, std::memory_order_relaxed);
  g_process.page->pid.store(::getpid(), std::memory_order_relaxed);
}

ForkPage* make_fork_page() {
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return &g_static_page;
  if (::madvise(page, 4096, MADV_WIPEONFORK) == 0) return new (page) ForkPage{};
  ::munmap(page, 4096);
  return &g_static_page;
}

/// A process may have had its time-stamp counter switched off (PR_SET_TSC): then reading it is
/// fatal, and so is clock_gettime, whose vDSO reads it.
bool clocks_are_readable() {
#ifdef __x86_64__
  int state = 0;
  return ::prctl(PR_GET_TSC, &state) != 0 || state == PR_TSC_ENABLE;
#else
  return true;
#endif
}

bool connect_to_recorder() {
  wire::Hello hello;
  wire::Problem problem = wire::Problem::kNone;
  int fd = -1;
  int error = 0;
  Segment segment = create_segment(fd, problem, error);
  Segment inherited = g_process.segment;
  // In a forked child, what its parent registered stays valid.
  if (segment && !copy_definitions(inherited, segment)) {
    destroy_segment(segment);
    ::close(fd);
    fd = -1;
    problem = wire::Problem::kSize;
  }
  if (segment) hello.layout = segment.header().layout;
  hello.problem = static_cast<std::uint32_t>(problem);
  hello.problem_errno = error;
  wire::Welcome welcome;
  bool accepted = hand_over(g_session, hello, fd, welcome);
  if (fd >= 0) ::close(fd);
  if (!accepted || !segment) {
    // The inherited segment stays mapped: a child of this process may still be recorded and need
    // it.
    destroy_segment(segment);
    return false;
  }
  destroy_segment(inherited);
  bool tsc = welcome.clock == static_cast<std::uint32_t>(wire::Clock::kTsc);
  g_process.clock = tsc ? wire::Clock::kTsc : wire::Clock::kRealtime;
  g_process.segment = segment;
  g_process.event_cost_known = false;
  return true;
}

}  // namespace

constinit Process g_process{&g_static_page, {}, wire::Clock::kRealtime, 0, false};

bool set_up_process() {
  SetUp state = g_set_up.load(std::memory_order_acquire);
  if (state != SetUp::kPending) return state == SetUp::kDone;
  Locked locked(g_set_up_lock);
  state = g_set_up.load(std::memory_order_acquire);
  if (state != SetUp::kPending) return state == SetUp::kDone;
  // Copied: the program may change its environment later, when its children still need this.
  const char* session = ::getenv(wire::kSessionVariable);
  std::size_t length = session ? std::strlen(session) : 0;
  bool usable =
      length > 0 && length < sizeof g_session && clocks_are_readable() && set_up_threads();
  if (usable) {
    // NOLINTNEXTLINE(bugprone-not-null-terminated-result): zeros follow
    std::memcpy(g_session, session, length);
    find_clock();
    g_process.page = make_fork_page();
    g_process.page->pid.store(::getpid(), std::memory_order_relaxed);
    usable = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
  }
  g_set_up.store(usable ? SetUp::kDone : SetUp::kNotRecorded, std::memory_order_release);
  return usable;
}

bool connect_locked() {
  ForkPage& page = *g_process.page;
  Mode mode = page.mode.load(std::memory_order_relaxed);
  if (mode != Mode::kFresh) return mode == Mode::kOn;
  forget_threads();
  bool connected = connect_to_recorder();
  page.mode.store(connected ? Mode::kOn : Mode::kOff, std::memory_order_relaxed);
  if (connected) page.generation.store(++g_process.last_generation, std::memory_order_release);
  return connected;
}

void stop_recording() {
  ForkPage& page = *g_process.page;
  page.mode.store(Mode::kOff, std::memory_order_relaxed);
  // Threads that have a ring then ask for a new one, and find that recording is off.
  page.generation.store(0, std::memory_order_relaxed);
}

bool start_recording() {
  int saved = errno;
  bool recording = false;
  if (set_up_process()) {
    Entry entry;
    if (entry) {
      Locked locked(g_process.page->lock);
      recording = connect_locked();
    }
  }
  errno = saved;
  return recording;
}

}  // namespace headway::inject
