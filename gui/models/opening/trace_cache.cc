// SPDX-License-Identifier: MIT
#include "gui/models/opening/trace_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace headway::gui {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kEnding = ".snapshot";

/// FNV-1a, for file names; the key inside the file tells whether it is the right one.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

struct Kept {
  fs::path path;
  fs::file_time_type used;
  std::int64_t bytes = 0;
};

/// Snapshots, and temporary files that an interrupted writer left at least an hour ago.
std::vector<Kept> kept_in(const fs::path& folder) {
  std::vector<Kept> kept;
  std::error_code error;
  const fs::file_time_type an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (!entry.is_regular_file(ignored)) continue;
    Kept one{entry.path(), entry.last_write_time(ignored),
             static_cast<std::int64_t>(entry.file_size(ignored))};
    std::string name = one.path.filename().string();
    if (name.ends_with(kEnding)) {
      kept.push_back(std::move(one));
    } else if (name.find(fmt::format("{}.tmp-", kEnding)) != std::string::npos &&
               one.used < an_hour_ago) {
      fs::remove(one.path, ignored);
    }
  }
  return kept;
}

}  // namespace

TraceCache::TraceCache(fs::path folder, Limits limits)
    : folder_(std::move(folder)), limits_(limits) {}

fs::path TraceCache::default_folder() {
  // The XDG specification says that relative paths are ignored.
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg && *xdg == '/') return fs::path(xdg) / "headway";
  const char* home = std::getenv("HOME");
  if (home && *home == '/') return fs::path(home) / ".cache" / "headway";
  return {};
}

fs::path TraceCache::file_of(const trace::SnapshotKey& key) const {
  return folder_ / fmt::format("{:016x}{}", hash_of(key.path), kEnding);
}

std::optional<trace::Trace> TraceCache::load(const trace::SnapshotKey& key,
                                             std::string& why_not) const {
  why_not.clear();
  if (folder_.empty()) return std::nullopt;
  const fs::path file = file_of(key);
  std::optional<trace::Trace> trace = trace::read_snapshot(file, key, why_not);
  std::error_code ignored;
  if (trace)
    fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);  // marks it as
                                                                           // used
  if (!why_not.empty()) fs::remove(file, ignored);
  return trace;
}

/// Removes the least recently used snapshots. False if the disk is still too full.
bool TraceCache::make_room(std::int64_t bytes) const {
  if (bytes > limits_.most_bytes) return false;
  std::vector<Kept> kept = kept_in(folder_);
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.used, a.path) < std::pair(b.used, b.path);
  });
  std::int64_t total = bytes;
  for (const Kept& one : kept) total += one.bytes;
  std::error_code ignored;
  for (const Kept& one : kept) {
    if (total <= limits_.most_bytes) break;
    fs::remove(one.path, ignored);
    total -= one.bytes;
  }
  std::error_code error;
  fs::space_info space = fs::space(folder_, error);
  return !error && space.available >= static_cast<std::uintmax_t>(bytes + limits_.spare_bytes);
}

bool TraceCache::store(const trace::Trace& trace, const trace::SnapshotKey& key,
                       const std::function<bool()>& keep_going) const {
  if (folder_.empty() || trace.event_count() < limits_.least_events) return false;
  try {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) return false;
    ::chmod(folder_.c_str(), 0700);  // names of programs and paths are private
    if (trace::snapshot_key(key.path) != key) return false;
    if (!make_room(trace::snapshot_bytes(trace))) return false;
    return trace::write_snapshot(trace, key, file_of(key), keep_going);
  } catch (const Error&) {
    return false;  // writing failed; the recording itself is unchanged
  }
}

}  // namespace headway::gui
