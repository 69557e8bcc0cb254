// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/sampler.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/pytorch/native/nvtx.h"

namespace headway::pytorch {
namespace {

// 1,000 samples a second for 0.1 s, 250 for 4 s, then 50: enough for short runs, few for long ones.
constexpr long kBeginningIntervalNs = 1'000'000;
constexpr std::uint32_t kBeginningSamples = 100;
constexpr long kFirstIntervalNs = 4'000'000;
constexpr long kLaterIntervalNs = 20'000'000;
constexpr std::uint32_t kFirstSamples = 1'000;
constexpr long kLookNs = 100'000;             ///< time in which a thread is seen to compute
constexpr std::size_t kMostStacks = 20'000;   ///< different stacks; each is kept as a name
constexpr std::size_t kLongestStack = 8'000;  ///< bytes of a name, below the limit of the wire
constexpr int kDeepest = 100;                 ///< frames

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
bool g_runs = false;     ///< under the lock
bool g_failed = false;   ///< sampling is off for ever
bool g_wanted = false;   ///< a sample is requested; atomic
long g_asked_ns = 0;     ///< sum of the intervals of the pending requests; atomic
bool g_pending = false;  ///< a Py_AddPendingCall() is pending; atomic
bool g_signals = false;
std::uint32_t g_samples = 0;     ///< atomic
const Thread* g_main = nullptr;  ///< state of the main thread
pid_t g_main_tid = 0;
clockid_t g_main_clock{};
PyObject* g_tell_failure = nullptr;

struct Names {
  std::vector<std::string> prefixes;
  std::unordered_map<std::string, nvtxStringHandle_t> stacks;
};
Names* g_names = nullptr;  ///< never freed: threads may run until the process ends

/// Whether a range says what the thread does. Only these two fields of the state may be read by other
/// threads.
bool is_told(const Thread& thread) {
  return __atomic_load_n(&thread.open, __ATOMIC_RELAXED) >
         __atomic_load_n(&thread.containers, __ATOMIC_RELAXED);
}

/// Appends a text attribute; false with an error set.
bool append(PyObject* object, const char* attribute, std::string& out) {
  PyObject* text = PyObject_GetAttrString(object, attribute);
  PyObject* bytes = text ? PyUnicode_AsUTF8String(text) : nullptr;
  Py_XDECREF(text);
  if (!bytes) return false;
  const char* characters = PyBytes_AsString(bytes);
  if (characters) out += characters;
  Py_DECREF(bytes);
  return characters != nullptr;
}

bool append_function(PyObject* code, std::string& out) {
  if (append(code, "co_qualname", out)) return true;
  PyErr_Clear();  // before Python 3.11
  return append(code, "co_name", out);
}

bool append_file(PyObject* code, std::string& out) {
  std::string file;
  if (!append(code, "co_filename", file)) return false;
  for (const std::string& prefix : g_names->prefixes) {
    if (file.compare(0, prefix.size(), prefix) != 0) continue;
    file.erase(0, prefix.size());
    break;
  }
  out += file;
  return true;
}

bool append_frame(PyObject* frame, std::string& out) {
  PyObject* code = PyObject_GetAttrString(frame, "f_code");
  PyObject* line = code ? PyObject_GetAttrString(frame, "f_lineno") : nullptr;
  std::string text;
  bool good = line && append_function(code, text);
  if (good) {
    text += " (";
    good = append_file(code, text);
  }
  // The hooks' own frames are left out: the frames that they interrupt count.
  if (good && text.find(" (headway_pytorch/") == std::string::npos) {
    const long number = line == Py_None ? 0 : PyLong_AsLong(line);
    for (char& c : text)
      if (c == ';' || c == '\n') c = ',';
    if (!out.empty()) out += ';';
    out += text + ":" + std::to_string(number) + ")";
  }
  Py_XDECREF(line);
  Py_XDECREF(code);
  return good;
}

/// The stack of the calling thread; empty with an error set, or when there is none.
std::string stack_now() {
  std::string out;
  PyObject* frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());
  Py_XINCREF(frame);
  for (int depth = 0; frame && depth < kDeepest && out.size() < kLongestStack; ++depth) {
    PyObject* back = append_frame(frame, out) ? PyObject_GetAttrString(frame, "f_back") : nullptr;
    Py_DECREF(frame);
    if (!back) return {};
    frame = back;
    if (frame == Py_None) break;
  }
  Py_XDECREF(frame);
  return out;
}

void switch_off() {
  pthread_mutex_lock(&g_lock);
  g_runs = false;
  pthread_mutex_unlock(&g_lock);
}

/// Exceptions of the program (Ctrl-C) propagate; all others end the sampling.
int give_up() {
  if (!PyErr_Occurred()) return 0;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return -1;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  g_failed = true;
  switch_off();
  PyObject* told = PyObject_CallFunctionObjArgs(g_tell_failure, value ? value : type, nullptr);
  Py_XDECREF(told);
  PyErr_Clear();
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return 0;
}

/// Takes a sample. Runs on the main thread, between two instructions of the program. -1 with an error of the
/// program set.
int take() {
  if (!__atomic_exchange_n(&g_wanted, false, __ATOMIC_ACQ_REL)) return 0;
  const long time_ns = __atomic_exchange_n(&g_asked_ns, 0, __ATOMIC_ACQ_REL);
  if (!g_runs || &this_thread() != g_main || is_told(*g_main)) return 0;
  std::string stack = stack_now();
  if (stack.empty()) return give_up();
  auto known = g_names->stacks.find(stack);
  if (known == g_names->stacks.end() && g_names->stacks.size() < kMostStacks) {
    nvtxStringHandle_t name = Nvtx::intern(stack.c_str());
    known = g_names->stacks.emplace(std::move(stack), name).first;
  }
  if (known != g_names->stacks.end()) Nvtx::mark_sample(known->second, time_ns / 1'000);
  __atomic_fetch_add(&g_samples, 1, __ATOMIC_RELAXED);
  return 0;
}

int answer_call(void*) {
  __atomic_store_n(&g_pending, false, __ATOMIC_RELEASE);
  return take();
}

void ask() {
  __atomic_store_n(&g_wanted, true, __ATOMIC_RELEASE);
  if (__atomic_exchange_n(&g_pending, true, __ATOMIC_ACQ_REL)) return;
  if (Py_AddPendingCall(answer_call, nullptr) != 0)
    __atomic_store_n(&g_pending, false, __ATOMIC_RELEASE);
}

long time_ns_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// Whether the main thread computes or waits for a processor: on a busy machine it may wait for one for many
/// milliseconds.
bool is_runnable() {
  char path[48];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", g_main_tid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[64];  // "123 (up to 15 characters) R ..."
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  const char* name_end = strrchr(text, ')');
  return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

/// Sends the signal only to a thread that computes, because it must not end a wait early.
void send_signal() {
  const long before = time_ns_of(g_main_clock);
  const timespec moment{0, kLookNs};
  nanosleep(&moment, nullptr);
  if (time_ns_of(g_main_clock) - before < kLookNs / 2 && !is_runnable()) return;
  if (!__atomic_load_n(&g_wanted, __ATOMIC_ACQUIRE) || is_told(*g_main)) return;
  syscall(SYS_tgkill, getpid(), g_main_tid, SIGURG);
}

/// Sleeps for 0.5 to 1.5 intervals at random, so that a loop of the program is not in step with the samples.
void pause(std::uint32_t& random) {
  random = random * 1664525u + 1013904223u;
  const std::uint32_t samples = __atomic_load_n(&g_samples, __ATOMIC_RELAXED);
  const long interval = samples < kBeginningSamples ? kBeginningIntervalNs
                        : samples < kFirstSamples   ? kFirstIntervalNs
                                                    : kLaterIntervalNs;
  const std::uint64_t more = (std::uint64_t{random} * static_cast<std::uint64_t>(interval)) >> 32;
  const timespec time{0, interval / 2 + static_cast<long>(more)};
  nanosleep(&time, nullptr);
}

void* ask_now_and_then(void*) {
  std::uint32_t random = 1;
  long before = time_ns_of(CLOCK_MONOTONIC);
  for (;;) {
    pause(random);
    // The real interval, not the requested one: on a busy machine this thread is late when the main thread
    // is.
    const long now = time_ns_of(CLOCK_MONOTONIC);
    const long time_ns = now - before;
    before = now;
    // Under the lock: after stop_sampler() there may be no interpreter.
    pthread_mutex_lock(&g_lock);
    if (!g_runs) break;
    const bool asks = !is_told(*g_main);
    // A thread that waits takes one sample after its wait, which stands for all these intervals.
    if (asks) __atomic_fetch_add(&g_asked_ns, time_ns, __ATOMIC_ACQ_REL);
    if (asks && !__atomic_load_n(&g_wanted, __ATOMIC_ACQUIRE)) ask();
    if (asks && g_signals) send_signal();
    pthread_mutex_unlock(&g_lock);
  }
  pthread_mutex_unlock(&g_lock);
  return nullptr;
}

/// Starts the thread with all signals blocked: signals are for the program's threads.
bool start_thread() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, ask_now_and_then, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) pthread_detach(thread);
  return started;
}

bool keep_prefixes(PyObject* prefixes) {
  g_names->prefixes.clear();
  const Py_ssize_t count = PyTuple_Size(prefixes);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* bytes = PyUnicode_AsUTF8String(PyTuple_GetItem(prefixes, i));
    if (!bytes) return false;
    if (const char* characters = PyBytes_AsString(bytes))
      g_names->prefixes.emplace_back(characters);
    Py_DECREF(bytes);
  }
  return count >= 0;
}

}  // namespace

bool start_sampler(PyObject* prefixes, bool signals, PyObject* failed) {
  if (g_runs || g_failed) return true;
  if (!g_names) g_names = new Names;
  if (!keep_prefixes(prefixes)) return false;
  Py_INCREF(failed);
  g_tell_failure = failed;
  g_main = &this_thread();
  g_main_tid = gettid();
  g_signals = signals && pthread_getcpuclockid(pthread_self(), &g_main_clock) == 0;
  g_runs = true;
  if (!start_thread()) g_runs = false;
  return true;
}

bool answer_signal() {
  return take() == 0;
}

void stop_sampler() {
  switch_off();
}

void sampler_forked() {
  g_lock = PTHREAD_MUTEX_INITIALIZER;
  g_runs = false;
  g_wanted = g_pending = false;
}

}  // namespace headway::pytorch
