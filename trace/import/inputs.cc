// SPDX-License-Identifier: MIT
#include "trace/import/inputs.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "common/error.h"
#include "trace/bookmarks.h"
#include "trace/import/trace_files.h"

namespace headway::trace {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "rank2" before "rank10".
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      std::size_t p = a.find_first_not_of('0', i);
      std::size_t q = b.find_first_not_of('0', j);
      i = p == std::string::npos ? a.size() : p;
      j = q == std::string::npos ? b.size() : q;
      std::size_t u = i;
      std::size_t v = j;
      while (u < a.size() && is_digit(a[u])) ++u;
      while (v < b.size() && is_digit(b[v])) ++v;
      if (u - i != v - j) return u - i < v - j;
      int order = a.compare(i, u - i, b, j, v - j);
      if (order != 0) return order < 0;
      i = u;
      j = v;
    } else if (a[i] != b[j]) {
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    } else {
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // they differ in leading zeros only
}

bool looks_like_trace(const fs::path& path) {
  static constexpr auto kEndings =
      std::to_array<std::string_view>({".sqlite", ".json", ".json.gz", ".pt.trace.json",
                                       ".xplane.pb", ".xplane.pb.gz", ".zip", ".nsys-rep", ".db"});
  std::string name = path.filename().string();
  return name.front() != '.' && !is_note_file(name) &&
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

/// The runs in a log folder of JAX's or TensorFlow's profiler; Keras adds a level of folders.
std::vector<std::string> profile_runs(const std::string& folder) {
  std::vector<std::string> runs;
  for (const char* inside : {"plugins/profile", "train/plugins/profile"}) {
    std::error_code error;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(folder) / inside, error)) {
      if (entry.is_directory()) runs.push_back(entry.path().string());
    }
  }
  std::sort(runs.begin(), runs.end(), natural_less);
  return runs;
}

std::vector<std::string> traces_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_regular_file() && looks_like_trace(entry.path()))
      files.push_back(entry.path().string());
  }
  if (error) fail_usage("{}: cannot read: {}.", folder, error.message());
  // Nsight Systems leaves its own file beside the export; only the export can be read.
  std::erase_if(files, [&](const std::string& file) {
    return file.ends_with(".nsys-rep") &&
           std::find(files.begin(), files.end(), fs::path(file).replace_extension(".sqlite")) !=
               files.end();
  });
  // JAX's profiler writes a Chrome trace of the same run, with less data, beside its profile.
  auto is_profile = [](const std::string& file) {
    return file.ends_with(".xplane.pb") || file.ends_with(".xplane.pb.gz");
  };
  if (std::any_of(files.begin(), files.end(), is_profile))
    std::erase_if(files, [](const std::string& file) {
      return file.ends_with(".trace.json.gz") || file.ends_with("perfetto_trace.json.gz");
    });
  if (files.empty()) {
    std::vector<std::string> runs = profile_runs(folder);
    if (runs.size() == 1) return traces_in(runs.front());
    if (runs.size() > 1)
      fail_usage("{}: holds {} profiles. Name one of them, for instance the last: {}", folder,
                 runs.size(), runs.back());
    fail_usage("{}: is a folder without traces (.sqlite, .json, .json.gz, .xplane.pb, .zip).",
               folder);
  }
  std::sort(files.begin(), files.end(), natural_less);
  return files;
}

std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found{};
  int code = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (code == GLOB_NOMATCH) fail_usage("{}: matches no file.", pattern);
  if (code != 0) fail_usage("{}: cannot search for this pattern.", pattern);
  std::erase_if(
      files, [](const std::string& file) { return fs::is_directory(file) || is_note_file(file); });
  if (files.empty()) fail_usage("{}: matches no recording, only folders or notes.", pattern);
  std::sort(files.begin(), files.end(), natural_less);
  return files;
}

}  // namespace

std::vector<std::string> expand_inputs(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    std::vector<std::string> more;
    if (fs::is_directory(argument, ignored)) {
      more = traces_in(argument);
    } else if (!fs::exists(argument, ignored) &&
               argument.find_first_of("*?[") != std::string::npos) {
      more = matches_of(argument);
    } else {
      more = {argument};
    }
    for (const std::string& file : more) {
      // An argument that is not a file gets its error message when the files are loaded.
      if (!fs::is_regular_file(file, ignored)) {
        files.push_back(file);
        continue;
      }
      for (const fs::path& trace : trace::trace_files(file)) files.push_back(trace.string());
    }
  }
  return files;
}

}  // namespace headway::trace
