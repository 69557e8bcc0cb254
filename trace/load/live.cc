// SPDX-License-Identifier: MIT
#include "trace/load/live.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

#include "trace/load/assembly.h"
#include "trace/meta_keys.h"
#include "trace/sqlite/database.h"

namespace headway::trace {
namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Ticks from the boot to the start of the process; empty when there is no such process, or when it
/// is a zombie.
std::string start_of(std::int64_t pid) {
  const std::string stat = content(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return "";
  std::string_view rest = std::string_view(stat).substr(name_end + 1);
  constexpr int kState = 0;
  constexpr int kStart = 19;
  for (int field = 0; field <= kStart; ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::string_view value = rest.substr(0, rest.find(' '));
    if (field == kState && (value == "Z" || value == "X")) return "";
    if (field == kStart) return std::string(value);
    rest.remove_prefix(value.size());
  }
  return "";
}

std::string describe(std::int64_t pid) {
  const std::string start = start_of(pid);
  std::string boot = content("/proc/sys/kernel/random/boot_id");
  boot.resize(std::min(boot.find('\n'), boot.size()));
  return start.empty() || boot.empty() ? "" : fmt::format("{} {} {}", pid, start, boot);
}

void look(const std::string& path, std::int64_t& bytes, std::int64_t& modified_ns) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;
  bytes = info.st_size;
  modified_ns = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
}

Recorder recorder_of(const sqlite::Database& db) {
  if (!db.has_table("HEADWAY_META")) return Recorder::kFinished;
  auto value = [&](std::string_view key) {
    sqlite::Statement statement = db.prepare("SELECT value FROM HEADWAY_META WHERE name=?1");
    statement.bind(1, key);
    return statement.step() ? std::string(statement.text(0)) : std::string();
  };
  if (value(meta::kState) != "recording") return Recorder::kFinished;
  if (still_runs(value(meta::kRecorder))) return Recorder::kRuns;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string recorded = value(meta::kHost);
  return recorded.empty() || recorded == host.data() ? Recorder::kGone : Recorder::kElsewhere;
}

}  // namespace

FileState::FileState(const std::filesystem::path& path) {
  look(path.string(), bytes, modified_ns);
  look(path.string() + "-wal", log_bytes, log_modified_ns);
}

RecordingProgress recording_progress(const std::filesystem::path& path) {
  sqlite::Database db = sqlite::Database::open_read_only(path);
  RecordingProgress progress{recorder_of(db), {}};
  struct Newest {
    std::string_view table;
    std::string_view time;
  };
  // Rows are written about in the order in which events end, so the newest event is among the last
  // rows.
  for (const Newest& newest :
       {Newest{"HEADWAY_COUNTER", "timestamp"}, Newest{"NVTX_EVENTS", "coalesce(\"end\",start)"},
        Newest{"HEADWAY_DEVICE_OP", "coalesce(\"end\",start)"},
        Newest{"CUPTI_ACTIVITY_KIND_RUNTIME", "\"end\""}}) {
    if (!db.has_table(newest.table)) continue;
    const std::int64_t time = db.int64(
        fmt::format("SELECT max({0}) FROM (SELECT * FROM {1} ORDER BY rowid DESC LIMIT 64)",
                    newest.time, newest.table));
    if (load_detail::possible(time)) progress.newest = std::max(progress.newest, TimeNs{time});
  }
  return progress;
}

std::string this_process() {
  return describe(::getpid());
}

bool still_runs(std::string_view process) {
  std::int64_t pid = 0;
  std::from_chars(process.data(), process.data() + process.size(), pid);
  return pid > 0 && describe(pid) == process;
}

}  // namespace headway::trace
