// SPDX-License-Identifier: MIT
#include "collector/inject/activity.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "collector/inject/activity_slots.h"
#include "collector/inject/api_filter.h"
#include "collector/inject/clock.h"
#include "collector/inject/definitions.h"
#include "collector/inject/hash.h"
#include "collector/inject/process.h"
#include "collector/inject/thread.h"

namespace headway::inject {
namespace {

using wire::ActivityKind;

constexpr ActivityKind kCollected[] = {
    // Devices, contexts and streams first, because other records refer to them: when a kind is
    // enabled, CUPTI reports the objects that exist already.
    ActivityKind::kDevice,     ActivityKind::kContext,  ActivityKind::kStream,
    ActivityKind::kRuntime,    ActivityKind::kKernel,   ActivityKind::kMemcpy,
    ActivityKind::kMemcpyPeer, ActivityKind::kMemset,   ActivityKind::kSynchronization,
    ActivityKind::kCudaEvent,  ActivityKind::kOverhead,
};
/// Without these there is nothing to analyse; the others are missing in some set-ups.
constexpr bool is_essential(ActivityKind kind) {
  return kind == ActivityKind::kKernel || kind == ActivityKind::kRuntime;
}

/// Kinds that record work, for each launch. The other kinds describe objects (and overheads); CUPTI reports the
/// objects again when their kind is enabled again.
constexpr bool is_work(ActivityKind kind) {
  return kind != ActivityKind::kDevice && kind != ActivityKind::kContext &&
         kind != ActivityKind::kStream && kind != ActivityKind::kOverhead;
}

constexpr std::uint32_t kCallbacks = 2048;
constexpr std::uint32_t kNames = 4096;  // a power of two

/// The names that the recorder knows already. Guarded by g_told_lock.
struct Told {
  struct Name {
    std::uint64_t address;
    std::uint64_t hash;
    std::uint32_t renamed;  ///< how often the address came to hold another text
    std::uint32_t checked;  ///< number of the last buffer in which it was looked at
  };
  Name names[kNames];
  std::uint32_t name_count;
  bool callbacks[2][kCallbacks];
  std::uint32_t buffers;
};

constinit Cupti* g_cupti = nullptr;
constinit pid_t g_pid = 0;
constinit FutexLock g_told_lock{};
/// Guards the choice of what CUPTI records; taken before g_told_lock.
constinit FutexLock g_kinds_lock{};
constinit bool g_collecting = false;
constinit bool g_paused = false;
constinit Told g_told{};

ActivitySlots slots() {
  return ActivitySlots(g_process.segment);
}

/// Offset of the address of the name in a record of this kind; 0: the record has no name.
std::size_t name_offset(ActivityKind kind) {
  if (kind == ActivityKind::kKernel) return offsetof(wire::activity::Kernel, name);
  if (kind == ActivityKind::kDevice) return offsetof(wire::activity::Device, name);
  if (kind == ActivityKind::kMemory) return offsetof(wire::activity::Memory, name);
  return 0;
}

/// The entry of an address, which is made if there is none; null when the table is full.
Told::Name* entry_of(std::uint64_t address) {
  for (std::uint64_t i = address * 0x9e3779b97f4a7c15u >> 40;; ++i) {
    Told::Name& name = g_told.names[i & (kNames - 1)];
    if (name.address == address) return &name;
    if (name.address != 0) continue;
    if (g_told.name_count >= kNames / 4 * 3) return nullptr;
    ++g_told.name_count;
    name = {address, 0, 0, 0};
    return &name;
  }
}

/// Defines the text at the address that the record holds. When the address holds another text than
/// before (the module was unloaded), a number is put into its upper bits, also in the record.
void tell_name(std::uint8_t* record, std::size_t offset) {
  std::uint64_t address;
  std::memcpy(&address, record + offset, sizeof address);
  if (address == 0) return;
  const char* text = reinterpret_cast<const char*>(address);
  Told::Name* name = entry_of(address);
  if (!name) return define_address_name(address, text);
  if (name->checked != g_told.buffers) {
    name->checked = g_told.buffers;
    const std::uint64_t hash = hash_of(text, ::strnlen(text, wire::kMaxDefinitionText)) | 1;
    if (name->hash != hash) {
      name->renamed += name->hash != 0;
      name->hash = hash;
      define_address_name(address | std::uint64_t{name->renamed} << wire::activity::kRenamedShift,
                          text);
    }
  }
  if (name->renamed == 0) return;
  address |= std::uint64_t{name->renamed} << wire::activity::kRenamedShift;
  std::memcpy(record + offset, &address, sizeof address);
}

void tell_callback(const std::uint8_t* record, bool driver) {
  std::uint32_t cbid;
  std::memcpy(&cbid, record + offsetof(wire::activity::Api, cbid), sizeof cbid);
  if (cbid >= kCallbacks || g_told.callbacks[driver][cbid]) return;
  g_told.callbacks[driver][cbid] = true;
  if (const char* name = g_cupti->call_name(driver, cbid)) define_callback_name(driver, cbid, name);
}

void measure_strides(Cupti& cupti) {
  for (std::uint32_t kind = 1; kind < wire::kActivityKinds; ++kind) {
    if (std::uint16_t stride = activity_stride(cupti, kind))
      slots().area().stride[kind].store(stride, std::memory_order_relaxed);
  }
}

/// Defines all names that the records of a buffer refer to. Returns the number of records.
std::uint64_t describe(std::uint8_t* buffer, std::size_t valid_bytes) {
  Locked locked(g_told_lock);
  ++g_told.buffers;
  std::uint64_t count = 0;
  for (std::uint8_t* record = nullptr; g_cupti->next_record(buffer, valid_bytes, &record);) {
    std::uint32_t number;
    std::memcpy(&number, record, sizeof number);
    const auto kind = static_cast<ActivityKind>(number);
    ++count;
    if (kind == ActivityKind::kRuntime || kind == ActivityKind::kDriver)
      tell_callback(record, kind == ActivityKind::kDriver);
    if (std::size_t offset = name_offset(kind)) tell_name(record, offset);
  }
  return count;
}

/// Adds the duration of a scope to the time that the program spends in this library, which the
/// trace reports.
class Spending {
 public:
  ~Spending() {
    slots().area().spent_ns.fetch_add(monotonic_ns() - begin_, std::memory_order_relaxed);
  }

 private:
  static std::uint64_t monotonic_ns() {
    timespec time;
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(time.tv_nsec);
  }
  std::uint64_t begin_ = monotonic_ns();
};

/// Some versions of CUPTI crash when they are refused memory. So when no slot is free, CUPTI gets
/// other memory, whose records are counted and dropped.
void on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes) {
  int saved = errno;
  Spending spending;
  *bytes = slots().slot_bytes();
  *buffer = reinterpret_cast<std::uint8_t*>(slots().take());
  if (!*buffer) *buffer = static_cast<std::uint8_t*>(std::calloc(1, *bytes));
  if (!*buffer) *bytes = 0;
  errno = saved;
}

void on_buffer_completed(std::uint8_t* buffer, std::size_t valid_bytes) {
  if (!buffer) return;
  int saved = errno;
  Spending spending;
  // A forked child inherits the memory of CUPTI's threads but not the threads: its buffers are
  // ignored.
  std::uint64_t count = 0;
  if (::getpid() == g_pid) {
    // Not in a signal handler that interrupted this library: this thread may hold the locks.
    Entry entry;
    if (entry) count = describe(buffer, valid_bytes);
    if (std::size_t dropped = g_cupti->take_dropped())
      slots().area().dropped.fetch_add(dropped, std::memory_order_relaxed);
  }
  if (!slots().publish(buffer, valid_bytes)) {
    slots().area().discarded.fetch_add(count, std::memory_order_relaxed);
    std::free(buffer);
  }
  errno = saved;
}

/// Called when the recorder takes no more. From here on CUPTI costs the program nothing, and a
/// profiler of the program may use it.
void stop_activity() {
  Locked locked(g_kinds_lock);
  g_collecting = false;
  for (ActivityKind kind : kCollected) g_cupti->disable(kind);
  g_cupti->disable(ActivityKind::kDriver);
  g_cupti->disable(ActivityKind::kGraphTrace);
  flush_activity(true);
  g_cupti->unsubscribe();
  stop_recording();
}

void on_profiler_call(bool start) {
  int saved = errno;
  Entry entry;
  ThreadState* thread = entry.thread();
  if (thread && ::getpid() == g_pid) {
    if (thread->ring.has_room(1 + std::uint64_t{thread->open})) {
      thread->ring.put(now(thread->clock),
                       {RecordWords::make_head(wire::RecordType::kCapture), 0, start});
      thread->ring.commit(1);
    } else {
      thread->count_dropped();
    }
  }
  errno = saved;
}

bool is_closed() {
  const Segment& segment = g_process.segment;
  return segment && segment.header().closed.load(std::memory_order_relaxed) != 0;
}

/// Flushes regularly: CUPTI hands over a buffer only when it is full, and in a program with little
/// CUDA work a buffer never fills.
void* flush_now_and_then(void*) {
  // Short pauses at first, so that the names of the kernels are known if the program dies early.
  for (long pause_ms = 50; !is_closed(); pause_ms = pause_ms < 500 ? pause_ms * 2 : 1000) {
    timespec pause{pause_ms / 1000, pause_ms % 1000 * 1'000'000};
    ::nanosleep(&pause, nullptr);
    flush_activity(false);
  }
  stop_activity();
  return nullptr;
}

void start_flushing() {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  // All signals are blocked, so that none of the program's is delivered to this thread.
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, flush_now_and_then, nullptr) == 0) {
    ::pthread_setname_np(thread, "headway-flush");
    ::pthread_detach(thread);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Chooses the API calls to record. Call it after enabling the kind, which resets the choice.
void choose_calls(Cupti& cupti) {
  for (const ApiFunction& call : kLeftOutRuntimeCalls) cupti.enable_call(false, call.cbid, false);
  for (const ApiFunction& call : kRecordedDriverCalls) cupti.enable_call(true, call.cbid, true);
}

/// Whether the recorder asks for this word in wire::kCudaMoreVariable.
bool is_asked(const char* word) {
  const char* words = std::getenv(wire::kCudaMoreVariable);
  const std::size_t length = std::strlen(word);
  for (const char* at = words; at && *at; at = std::strchr(at, ' ')) {
    if (*at == ' ') ++at;
    if (std::strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\0'))
      return true;
  }
  return false;
}

}  // namespace

std::uint16_t activity_stride(Cupti& cupti, std::uint32_t kind) {
  alignas(8) std::uint8_t buffer[1024];
  for (std::size_t at = 0; at < sizeof buffer; at += 8) {
    std::memset(buffer + at, 0, 8);
    std::memcpy(buffer + at, &kind, sizeof kind);
  }
  std::uint8_t* first = nullptr;
  if (!cupti.next_record(buffer, sizeof buffer, &first)) return 0;
  std::uint8_t* second = first;
  if (!cupti.next_record(buffer, sizeof buffer, &second)) return 0;
  return static_cast<std::uint16_t>(second - first);
}

int start_activity(Cupti& cupti) {
  g_cupti = &cupti;
  g_pid = ::getpid();
  measure_strides(cupti);
  cupti.configure();
  if (is_asked(wire::kLatencyWord)) cupti.enable_latency_timestamps();
  if (int error = cupti.register_buffers(on_buffer_requested, on_buffer_completed)) return error;
  for (ActivityKind kind : kCollected) {
    int error = cupti.enable(kind);
    if (error != 0 && is_essential(kind)) return error;
  }
  if (is_asked(wire::kMemoryWord)) {
    cupti.enable(ActivityKind::kMemory);
    cupti.enable(ActivityKind::kMemoryPool);
  }
  if (is_asked(wire::kEnvironmentWord)) cupti.enable(ActivityKind::kEnvironment);
  // With kGraphTrace the nodes of a graph are not reported, which costs the program less.
  const char* graphs = std::getenv(wire::kCudaGraphVariable);
  if (graphs && std::strcmp(graphs, "graph") == 0) cupti.enable(ActivityKind::kGraphTrace);
  choose_calls(cupti);
  cupti.leave_out_failed_queries();
  const char* profiler = std::getenv(wire::kCudaProfilerVariable);
  if (profiler && std::strcmp(profiler, "1") == 0) cupti.watch_profiler_calls(on_profiler_call);
  g_collecting = true;
  start_flushing();
  ::atexit([] { flush_activity(true); });
  return 0;
}

bool pause_activity(bool pause) {
  if (!g_cupti || ::getpid() != g_pid || !is_asked(wire::kPausesWord)) return false;
  Locked locked(g_kinds_lock);
  if (!g_collecting || pause == g_paused) return false;
  g_paused = pause;
  for (const ActivityKind kind : kCollected) {
    if (!is_work(kind)) continue;
    if (pause)
      g_cupti->disable(kind);
    else
      g_cupti->enable(kind);
  }
  if (pause) {
    for (const ApiFunction& call : kRecordedDriverCalls)
      g_cupti->enable_call(true, call.cbid, false);
  } else {
    choose_calls(*g_cupti);
  }
  return true;
}

bool activity_stream_number(void* stream, std::uint32_t& number) {
  return g_cupti && ::getpid() == g_pid && g_cupti->stream_number(stream, number) == 0;
}

void flush_activity(bool incomplete) {
  if (g_cupti && ::getpid() == g_pid) g_cupti->flush(incomplete);
}

}  // namespace headway::inject
