// SPDX-License-Identifier: MIT
#include "gui/models/opening/trace_source.h"

#include "analyzer/ranks/merge_traces.h"
#include "common/error.h"
#include "gui/models/opening/memory_room.h"
#include "gui/models/opening/trace_cache.h"
#include "trace/import/inputs.h"
#include "trace/load/live.h"
#include "trace/load/load.h"
#include "trace/meta_keys.h"

namespace headway::gui {
namespace {

namespace fs = std::filesystem;

/// The list of files as the report reads a job: folders, patterns and archives are expanded.
std::vector<fs::path> files_of(const TraceSource& source) {
  std::vector<std::string> arguments;
  for (const fs::path& file : source.files) arguments.push_back(file.string());
  std::vector<std::string> files = trace::expand_inputs(arguments);
  return {files.begin(), files.end()};
}

/// SQLite keeps changes that are not yet in the file in a log beside it.
bool has_log(const fs::path& file) {
  std::error_code error;
  auto bytes = fs::file_size(file.string() + "-wal", error);
  return !error && bytes > 0;
}

ReadTrace read_file(const TraceSource& source, const fs::path& file, std::int64_t room,
                    const std::function<void(double)>& progress) {
  ReadTrace read;
  bool cached = !source.cache_folder.empty() && !source.stretch && !has_log(file);
  std::optional<trace::SnapshotKey> key;
  if (cached) key = trace::snapshot_key(file);
  std::string damage;
  if (key) {
    if (auto trace = TraceCache(source.cache_folder).load(*key, damage)) {
      read.trace = std::move(*trace);
      read.trace.path = file.string();
      read.from_cache = true;
      return read;
    }
  }
  if (!source.stretch) require_room(file, room);
  trace::LoadOptions options;
  options.progress = progress;
  options.stretch = source.stretch;
  read.trace = trace::load(file, options);
  const bool unfinished = read.trace.meta_value(trace::meta::kState) == "recording";
  // A killed recorder leaves this state behind.
  const bool gone = unfinished && !read.trace.meta_value(trace::meta::kRecorder).empty() &&
                    trace::recording_progress(file).recorder == trace::Recorder::kGone;
  read.recording = unfinished && !gone;
  if (!unfinished) read.keep_as = key;
  if (!damage.empty()) {
    read.trace.losses.push_back({"cache_damaged", "info",
                                 "The trace cache was invalid and was deleted (" + damage +
                                     "); the trace was read from its file and is complete",
                                 1});
  }
  return read;
}

}  // namespace

ReadTrace read_source(const TraceSource& source, const std::function<void(double)>& progress) {
  const std::vector<fs::path> files = files_of(source);
  if (files.empty()) fail_usage("no trace to open.");
  std::int64_t room = source.memory_bytes > 0 ? source.memory_bytes : free_memory_bytes();
  if (files.size() == 1) return read_file(source, files[0], room, progress);
  std::vector<trace::Trace> traces;
  traces.reserve(
      files.size());  // reallocation would copy traces and invalidate the views of their texts
  ReadTrace whole;
  std::uint32_t processes = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    double done = static_cast<double>(i) / static_cast<double>(files.size());
    double share = 1 / static_cast<double>(files.size());
    std::int64_t each = room / static_cast<std::int64_t>(files.size());
    ReadTrace read = read_file(source, files[i], each, [&](double part) {
      if (progress) progress(done + part * share);
    });
    whole.recording = whole.recording || read.recording;
    whole.parts.push_back({files[i], {}, processes});
    processes += static_cast<std::uint32_t>(read.trace.processes.size());
    traces.push_back(std::move(read.trace));
  }
  std::vector<DurationNs> shifts;
  whole.trace = analyzer::merge_traces(std::move(traces), &shifts);
  for (std::size_t i = 0; i < shifts.size(); ++i) whole.parts[i].shift = shifts[i];
  return whole;
}

}  // namespace headway::gui
