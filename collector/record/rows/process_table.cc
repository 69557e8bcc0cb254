// SPDX-License-Identifier: MIT
#include "collector/record/rows/process_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <utility>

#include "common/secrets.h"
#include "common/text.h"
#include "trace/tables/processes.h"
#include "trace/tables/thread_names.h"

namespace headway::record {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// The system's name of a thread; empty when the thread is gone.
std::string name_of_thread(std::int32_t pid, std::int32_t tid) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/comm", pid, tid));
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

ProcessTable::Process& ProcessTable::process(std::int32_t pid) {
  auto [slot, is_new] = processes_.try_emplace(pid);
  if (is_new) slot->second.row.global_pid = global_pid(pid);
  return slot->second;
}

void ProcessTable::seen(const ProcessSeen& message) {
  Process& target = process(message.pid);
  news_ = true;
  target.row.parent_pid = message.parent_pid;
  target.row.start = std::max<std::int64_t>(0, axis_.from_monotonic(message.start_monotonic_ns).ns);
  // A process that is seen between fork and exec still has its parent's command line; a later
  // message is better.
  if (!message.command_line.empty()) target.command_line = message.command_line;
  if (!message.name.empty()) target.name = message.name;
  target.without_session = message.without_session;
  if (message.launched.rank) {
    target.row.rank = *message.launched.rank;
    if (!launched_.rank) launched_ = message.launched;
  }
  auto early = early_ends_.find(message.pid);
  if (early == early_ends_.end()) return;
  ProcessEnded end = early->second;
  early_ends_.erase(early);
  if (end.monotonic_ns >= message.start_monotonic_ns) ended(end);
}

void ProcessTable::ended(const ProcessEnded& message) {
  if (!processes_.contains(message.pid)) {
    early_ends_[message.pid] = message;
    return;
  }
  Process& target = process(message.pid);
  news_ = true;
  if (!target.row.end) target.row.end = axis_.from_monotonic(message.monotonic_ns).ns;
  if (message.exit_code) target.row.exit_code = *message.exit_code;
  if (message.signal) target.row.signal = *message.signal;
}

void ProcessTable::injected(std::int32_t pid) {
  process(pid).row.injected = 1;
  news_ = true;
}

void ProcessTable::add_records(std::int32_t pid, std::int64_t count) {
  process(pid).row.records += count;
}

void ProcessTable::thread_seen(std::int32_t pid, std::int32_t tid) {
  auto [slot, is_new] = threads_.try_emplace({pid, tid});
  // Read the name at once: the thread may end before the next refresh.
  if (!is_new) return;
  slot->second.name = to_valid_utf8(name_of_thread(pid, tid));
  news_ = true;
}

void ProcessTable::thread_named(std::int32_t pid, std::int32_t tid, std::string_view name) {
  Thread& thread = threads_[{pid, tid}];
  if (thread.name != name) news_ = true;
  thread.name = name;
  thread.named_by_program = true;
}

void ProcessTable::refresh_thread_names(std::int64_t monotonic_ns) {
  // Programs name threads at their start, or a little later. A read takes 10 us, which is too much
  // for every second.
  constexpr std::int64_t kAgainAfter[] = {kSecond / 4, kSecond, 10 * kSecond};
  for (auto& [key, thread] : threads_) {
    if (thread.named_by_program || thread.next_read_ns > monotonic_ns) continue;
    std::string name = to_valid_utf8(name_of_thread(key.first, key.second));
    // A live view may have shown the row without this name, or with another.
    if (!name.empty() && name != std::exchange(thread.name, name)) news_ = true;
    bool again = !name.empty() && thread.reads < static_cast<int>(std::size(kAgainAfter));
    thread.next_read_ns = again ? monotonic_ns + kAgainAfter[thread.reads] : INT64_MAX;
    ++thread.reads;
  }
}

void ProcessTable::write_news(TraceSink& sink, std::int64_t monotonic_ns) {
  constexpr std::int64_t kEachProcess = kSecond / 100;
  if (!news_ || monotonic_ns < next_write_ns_) return;
  news_ = false;
  next_write_ns_ = monotonic_ns + kEachProcess * static_cast<std::int64_t>(processes_.size());
  write(sink);
}

void ProcessTable::count_losses(TraceSink& sink) const {
  const auto without = std::count_if(processes_.begin(), processes_.end(), [](const auto& item) {
    return item.second.row.injected == 0;
  });
  if (without > 0) sink.count_loss(trace::Loss::kProcessNotInjected, without);
}

void ProcessTable::write(TraceSink& sink) const {
  sink.remove_all<trace::tables::Process>();
  sink.remove_all<trace::tables::Processes>();
  sink.remove_all<trace::tables::ThreadNames>();
  auto command_line = [&](const std::string& arguments) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= arguments.size();) {
      const std::size_t end = std::min(arguments.find('\0', at), arguments.size());
      words.push_back(arguments.substr(at, end - at));
      at = end + 1;
    }
    if (!sink.keeps_arguments()) words = mask_secrets(std::move(words));
    return fmt::format("{}", fmt::join(words, " "));
  };
  for (const auto& [pid, process] : processes_) {
    trace::tables::Process::Row row = process.row;
    row.command_line = sink.keep(command_line(process.command_line));
    sink.add<trace::tables::Process>(row);
    sink.add<trace::tables::Processes>({row.global_pid, pid, sink.keep(process.name)});
  }
  for (const auto& [key, thread] : threads_) {
    std::string_view name = thread.name;
    auto owner = processes_.find(key.first);
    bool main_thread = key.first == key.second && owner != processes_.end();
    if (name.empty() && main_thread) name = owner->second.name;
    if (name.empty()) continue;
    sink.add<trace::tables::ThreadNames>(
        {sink.intern(name), std::nullopt, global_pid(key.first) | key.second});
  }
}

std::size_t ProcessTable::injected_count() const {
  return static_cast<std::size_t>(
      std::count_if(processes_.begin(), processes_.end(),
                    [](const auto& item) { return item.second.row.injected != 0; }));
}

std::vector<std::string> ProcessTable::without_session() const {
  std::vector<std::string> names;
  for (const auto& [pid, process] : processes_) {
    if (process.without_session && !process.row.injected)
      names.push_back(fmt::format("{} ({})", pid, process.name));
  }
  return names;
}

std::optional<FailedRank> ProcessTable::first_failed_rank() const {
  std::optional<FailedRank> first;
  std::int64_t at = INT64_MAX;
  for (const auto& [pid, process] : processes_) {
    const auto& row = process.row;
    const bool by_signal = row.signal.value_or(0) != 0;
    if (row.rank.value_or(-1) < 0 || (!by_signal && row.exit_code.value_or(0) == 0)) continue;
    // A rank ends its own worker processes by SIGTERM.
    const auto parent = processes_.find(static_cast<std::int32_t>(row.parent_pid.value_or(0)));
    const bool is_worker = parent != processes_.end() && parent->second.row.rank == row.rank;
    if (is_worker && row.signal == SIGTERM) continue;
    const std::int64_t end = row.end.value_or(INT64_MAX - 1);
    if (end >= at) continue;
    at = end;
    first = {*row.rank, pid, {}, {}};
    if (by_signal)
      first->signal = static_cast<int>(*row.signal);
    else
      first->exit_code = static_cast<int>(*row.exit_code);
  }
  return first;
}

std::int64_t ProcessTable::records() const {
  std::int64_t sum = 0;
  for (const auto& [pid, process] : processes_) sum += process.row.records;
  return sum;
}

}  // namespace headway::record
