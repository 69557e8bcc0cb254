// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/host/stream.h"

#include <chrono>
#include <cstring>
#include <exception>

#include "common/error.h"
#include "reference_trainer/devices/host_clock.h"

namespace headway::trainer {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a spinning stream polls for its next kernel: longer than a host takes between two
/// launches of a step.
constexpr std::chrono::microseconds kSpinForKernel{500};

/// Copies, and takes as long as the link would. The thread sleeps for the remaining time, because a
/// copy engine does not use the processor.
void run_copy(const CopyTask& copy) {
  const Clock::time_point start = Clock::now();
  std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.bytes));
  if (copy.bytes_per_second > 0) {
    const std::chrono::duration<double> needed(static_cast<double>(copy.bytes) /
                                               copy.bytes_per_second);
    std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(needed));
  }
}

/// Runs a kernel and waits for the rest of its shortest duration: it sleeps as long as a sleep ends
/// in time reliably, then spins.
void run_kernel(const KernelTask& task) {
  constexpr std::chrono::microseconds kSleepSlack{100};
  const Clock::time_point end = Clock::now() + task.at_least;
  task.kernel->run(task.arguments);
  if (task.at_least.count() == 0) return;
  if (end - Clock::now() > 2 * kSleepSlack) std::this_thread::sleep_until(end - kSleepSlack);
  while (Clock::now() < end) pause_processor();
}

}  // namespace

void StickyError::set(std::string text) {
  std::scoped_lock lock(mutex_);
  if (set_) return;
  text_ = std::move(text);
  set_.store(true, std::memory_order_release);
}

void StickyError::check() const {
  if (!is_set()) return;
  std::scoped_lock lock(mutex_);
  throw Error(ExitCode::kInternal, text_);
}

HostStream::HostStream(std::string name, StickyError& error, bool spin,
                       std::function<void()> on_start)
    : name_(std::move(name)),
      error_(error),
      spin_(spin),
      thread_([this, start = std::move(on_start)] { run(start); }) {}

HostStream::~HostStream() {
  {
    std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  work_.notify_one();
  thread_.join();
}

std::uint64_t HostStream::submit(HostTask task) {
  std::unique_lock lock(mutex_);
  // Another submitter may take the next number while this one waits.
  auto next = [&] { return submitted_.load(std::memory_order_relaxed) + 1; };
  auto room_after = [&] { return next() - std::min<std::uint64_t>(next(), kDepth); };
  if (!completed(room_after()))
    sleep_until(lock, room_after, [&] { return completed(room_after()); });
  const std::uint64_t sequence = next();
  ring_[sequence % kDepth] = std::move(task);
  submitted_.store(sequence, std::memory_order_release);
  const bool wake = idle_;
  lock.unlock();
  if (wake) work_.notify_one();
  return sequence;
}

void HostStream::wait_for(std::uint64_t sequence) {
  while (spin_ && !completed(sequence)) pause_processor();
  sleep_for(sequence);
}

void HostStream::sleep_for(std::uint64_t sequence) {
  if (completed(sequence)) return;
  std::unique_lock lock(mutex_);
  sleep_until(
      lock, [&] { return sequence; }, [&] { return completed(sequence); });
}

template <class Sequence, class Ready>
void HostStream::sleep_until(std::unique_lock<std::mutex>& lock, const Sequence& sequence,
                             const Ready& ready) {
  for (;;) {
    const std::uint64_t wanted = sequence();
    const auto mine = awaited_.insert(wanted);
    wake_at_.store(*awaited_.begin(), std::memory_order_seq_cst);
    // Checked after wake_at_ is visible: the stream either sees it or has completed before the
    // check.
    if (!ready()) progress_.wait(lock, [&] { return completed(wanted); });
    awaited_.erase(mine);
    wake_at_.store(awaited_.empty() ? std::numeric_limits<std::uint64_t>::max() : *awaited_.begin(),
                   std::memory_order_seq_cst);
    if (ready()) return;
  }
}

void HostStream::run(const std::function<void()>& on_start) {
  nvtx::name_this_thread("stream " + name_);
  on_start();
  for (std::uint64_t next = 1; wait_for_work(next); ++next) {
    HostTask& task = ring_[next % kDepth];  // belongs to this thread until `next` is completed
    if (!error_.is_set() || std::holds_alternative<WaitTask>(task.work)) execute(task);
    task.work = {};
    complete(next);
  }
}

/// True when task `next` is there, false when the stream closes. Sleeps at once unless `spin` is
/// set: on a machine with few cores, the launching thread and the loader need the time
/// (docs/design).
bool HostStream::wait_for_work(std::uint64_t next) {
  if (spin_ && after_kernel_) {
    const Clock::time_point end = Clock::now() + kSpinForKernel;
    while (submitted() < next && Clock::now() < end) pause_processor();
  }
  if (submitted() >= next) return true;
  std::unique_lock lock(mutex_);
  idle_ = true;
  work_.wait(lock, [&] { return submitted() >= next || closing_; });
  idle_ = false;
  return submitted() >= next;
}

void HostStream::execute(const HostTask& task) {
  if (const auto* wait = std::get_if<WaitTask>(&task.work)) {
    wait->stream->sleep_for(wait->sequence);
    return;
  }
  if (const auto* recorded = std::get_if<RecordedTask>(&task.work)) return execute(*recorded);
  after_kernel_ = std::holds_alternative<KernelTask>(task.work);
  run_op(task);
}

void HostStream::execute(const RecordedTask& task) {
  after_kernel_ = true;
  for (const RecordedKernel& each : task.recorded->kernels()) {
    if (error_.is_set()) return;
    HostTask one{KernelTask{each.kernel, task.arguments, each.at_least}, each.kernel->tag().name,
                 each.payload};
    one.payload.correlation = task.correlation;
    one.payload.batch = task.arguments.batch;
    run_op(one);
  }
}

void HostStream::run_op(const HostTask& task) {
  nvtx::Range range(task.name, task.payload);
  try {
    if (const auto* kernel = std::get_if<KernelTask>(&task.work)) {
      run_kernel(*kernel);
    } else if (const auto* copy = std::get_if<CopyTask>(&task.work)) {
      run_copy(*copy);
    }
  } catch (const std::exception& error) {
    const auto* kernel = std::get_if<KernelTask>(&task.work);
    error_.set(fmt::format("Op '{}' failed on stream '{}': {}",
                           kernel ? kernel->kernel->tag().text : "copy", name_, error.what()));
  }
}

/// Wakes sleepers only when a piece of work that one of them waits for is done: waking the host at
/// every completion cost 12 µs between kernels.
void HostStream::complete(std::uint64_t sequence) {
  completed_.store(sequence, std::memory_order_seq_cst);
  if (sequence < wake_at_.load(std::memory_order_seq_cst)) return;
  // Under the mutex, so that a sleeper is either before its check or in wait.
  { std::scoped_lock lock(mutex_); }
  progress_.notify_all();
}

}  // namespace headway::trainer
