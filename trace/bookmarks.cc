// SPDX-License-Identifier: MIT
#include "trace/bookmarks.h"

#include <fmt/format.h>

#include <simdjson.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>

#include "common/error.h"
#include "common/text.h"
#include "trace/json_text.h"

namespace headway::trace {
namespace {

constexpr std::string_view kOldFirstLine = "headway bookmarks 1";
constexpr std::string_view kSuffix = ".headway-notes.json";
constexpr std::int64_t kVersion = 1;
constexpr std::uintmax_t kMostFileBytes = 64'000'000;

/// For the older, line-based format: tabs, line ends and backslashes were written as \t, \n, \\.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    char c = text[++i];
    result += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return result;
}

std::string fit(std::string_view note) {
  if (note.size() <= Bookmarks::kMostNoteBytes) return to_valid_utf8(note);
  std::size_t end = Bookmarks::kMostNoteBytes;
  while (end > 0 && (note[end] & 0xC0) == 0x80) --end;  // do not cut inside a character
  return to_valid_utf8(note.substr(0, end));
}

std::optional<std::int64_t> take_number(std::string_view& line) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc{} || end == line.data() + line.size() || *end != '\t') return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return value;
}

/// False for times that no trace can have; they would break the arithmetic of the view.
bool is_possible(const Interval& when) {
  constexpr std::int64_t kMostNs = std::int64_t{20} * 365 * 24 * 3600 * 1'000'000'000 / 2;
  return when.begin <= when.end && when.begin.ns >= -kMostNs && when.end.ns <= kMostNs;
}

std::optional<Bookmark> parse_line(std::string_view line) {
  std::optional<std::int64_t> begin = take_number(line);
  std::optional<std::int64_t> end = begin ? take_number(line) : std::nullopt;
  if (!end || !is_possible({{*begin}, {*end}})) return std::nullopt;
  // The id is the same for every reader of the file, and the time of change is older than any
  // change.
  return Bookmark{{{*begin}, {*end}}, fit(unescaped(line)), fmt::format("{}-{}", *begin, *end)};
}

std::optional<Bookmark> parse_note(simdjson::dom::element element) {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Bookmark result;
  std::string_view text;
  std::string_view id;
  if (element["begin_ns"].get(begin) || element["end_ns"].get(end) || element["id"].get(id) ||
      element["text"].get(text) || id.empty() || id.size() > 100 || !is_possible({{begin}, {end}}))
    return std::nullopt;
  result = {{{begin}, {end}}, fit(text), std::string(id)};
  if (element["changed_utc_ms"].get(result.changed_ms)) result.changed_ms = 0;
  if (element["removed"].get(result.removed)) result.removed = false;
  return result;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string new_id() {
  static std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return fmt::format("{:016x}", generator());
}

std::string json_string(std::string_view text) {
  std::string out;
  export_detail::append_json_string(out, text);
  return out;
}

std::string line_of(const Bookmark& bookmark) {
  return fmt::format(
      "{{\"id\": {}, \"begin_ns\": {}, \"end_ns\": {}, \"changed_utc_ms\": {}{}, \"text\": {}}}",
      json_string(bookmark.id), bookmark.when.begin.ns, bookmark.when.end.ns, bookmark.changed_ms,
      bookmark.removed ? ", \"removed\": true" : "", json_string(bookmark.note));
}

bool earlier(const Bookmark& a, const Bookmark& b) {
  return std::pair(a.when.begin, a.when.end) < std::pair(b.when.begin, b.when.end);
}

}  // namespace

std::size_t Bookmarks::add(Bookmark bookmark) {
  bookmark.note = fit(bookmark.note);
  auto at = std::lower_bound(all_.begin(), all_.end(), bookmark, earlier);
  const std::size_t index = static_cast<std::size_t>(at - all_.begin());
  if (at != all_.end() && at->when == bookmark.when) {
    if (!bookmark.note.empty()) set_note(index, bookmark.note);
    return index;
  }
  if (all_.size() >= kMost) return all_.size() - 1;
  if (bookmark.id.empty()) {
    bookmark.id = new_id();
    bookmark.changed_ms = now_ms();
  }
  all_.insert(at, std::move(bookmark));
  return index;
}

void Bookmarks::set_note(std::size_t index, std::string_view note) {
  Bookmark& bookmark = all_.at(index);
  bookmark.note = fit(note);
  // Later than the replaced version, even if that has a time from a clock that is ahead.
  bookmark.changed_ms = std::max(now_ms(), bookmark.changed_ms + 1);
}

void Bookmarks::remove(std::size_t index) {
  set_note(index, "");
  removed_.push_back(std::move(all_[index]));
  removed_.back().removed = true;
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(index));
}

/// The bookmark of this object with the id of `other`; null: none.
Bookmark* Bookmarks::known(const Bookmark& other) {
  for (std::vector<Bookmark>* list : {&all_, &removed_}) {
    auto same = std::find_if(list->begin(), list->end(),
                             [&](const Bookmark& b) { return b.id == other.id; });
    if (same != list->end()) return &*same;
  }
  return nullptr;
}

void Bookmarks::take(Bookmark other) {
  if (const Bookmark* ours = known(other)) {
    // For two changes in the same millisecond the note decides, so that all readers choose the same
    // one.
    if (std::pair(ours->changed_ms, std::string_view(ours->note)) >=
        std::pair(other.changed_ms, std::string_view(other.note)))
      return;
    std::erase_if(ours->removed ? removed_ : all_,
                  [&](const Bookmark& b) { return b.id == other.id; });
  }
  if (other.removed) {
    removed_.push_back(std::move(other));
  } else if (all_.size() < kMost) {
    // Notes of two users on one place stay two notes.
    all_.insert(std::upper_bound(all_.begin(), all_.end(), other, earlier), std::move(other));
  }
}

std::size_t Bookmarks::load(const std::filesystem::path& file) {
  all_.clear();
  removed_.clear();
  return unite(file);
}

std::size_t Bookmarks::unite(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return 0;
  if (std::filesystem::file_size(file, error) > kMostFileBytes || error)
    fail_input("{}: not a bookmark file; move it away to create a new one.", file.string());
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) fail_input("{}: cannot read the bookmarks.", file.string());
  std::size_t left_out = 0;
  simdjson::dom::parser parser;
  // Whole lines are read even if the JSON file is cut or damaged.
  auto take_line = [&](std::string_view line) {
    std::optional<Bookmark> bookmark;
    if (line.starts_with("{\"id\"")) {
      simdjson::dom::element note;
      if (line.ends_with(',')) line.remove_suffix(1);
      if (!parser.parse(line.data(), line.size()).get(note)) bookmark = parse_note(note);
    } else {
      bookmark = parse_line(line);
    }
    if (bookmark && all_.size() < kMost) {
      take(std::move(*bookmark));
    } else if (!line.empty()) {
      ++left_out;
    }
  };
  simdjson::dom::element document;
  simdjson::dom::array notes;
  std::int64_t version = 0;
  if (text.starts_with('{') && !parser.parse(text).get(document) &&
      !document["headway_notes"].get(version) && !document["notes"].get(notes)) {
    if (version > kVersion)
      fail_input("{}: written by a newer Headway; left unchanged.", file.string());
    for (simdjson::dom::element note : notes) {
      std::optional<Bookmark> bookmark = parse_note(note);
      if (bookmark && all_.size() < kMost)
        take(std::move(*bookmark));
      else
        ++left_out;
    }
    return left_out;
  }
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kOldFirstLine) ++left_out;
  while (std::getline(lines, line)) take_line(line);
  return left_out;
}

void Bookmarks::save(const std::filesystem::path& file) {
  // Another window or user may have saved the file since it was read.
  const bool damaged = unite(file) > 0;
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (damaged) {
    std::filesystem::path kept = file;
    kept += ".damaged";
    std::filesystem::copy_file(file, kept, std::filesystem::copy_options::skip_existing, error);
  }
  std::filesystem::path part = file;
  part += fmt::format(".{}.part", new_id());  // two writers must not share a file
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  // One bookmark per line, so that tools that merge text files can merge these files.
  out << fmt::format("{{\"headway_notes\": {}, \"notes\": [", kVersion);
  const char* before = "\n";
  for (const std::vector<Bookmark>* list : {&all_, &removed_}) {
    for (const Bookmark& bookmark : *list) {
      out << before << line_of(bookmark);
      before = ",\n";
    }
  }
  out << "\n]}\n";
  out.close();
  if (out) std::filesystem::rename(part, file, error);
  if (!out || error) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    fail_input("{}: cannot save the bookmarks. Check free space and write permission.",
               file.string());
  }
}

std::vector<std::filesystem::path> note_files_of(const std::filesystem::path& trace_file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(trace_file, error)) return {};
  const std::filesystem::path folder = trace_file.parent_path();
  const std::string stem = trace_file.stem().string();
  std::vector<std::filesystem::path> others;
  for (std::filesystem::directory_iterator it(folder.empty() ? "." : folder, error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(stem + ".") && name.ends_with(kSuffix) &&
        name != stem + std::string(kSuffix))
      others.push_back(folder / name);
  }
  std::sort(others.begin(), others.end());
  others.insert(others.begin(), folder / (stem + std::string(kSuffix)));
  return others;
}

bool is_note_file(std::string_view name) {
  return name.ends_with(kSuffix);
}

Bookmarks notes_beside(const std::filesystem::path& trace_file) {
  Bookmarks result;
  for (const std::filesystem::path& file : note_files_of(trace_file)) {
    try {
      result.unite(file);
    } catch (const Error&) {
    }
  }
  return result;
}

std::string identity_of(const Trace& trace) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  auto add = [&](std::string_view text) {
    for (char c : text.substr(0, 4096))
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    hash = (hash ^ 0xff) * 1099511628211u;
  };
  auto add_number = [&](std::int64_t value) { add(fmt::format("{}", value)); };
  add_number(trace.start_utc_ns);
  if (!trace.processes.empty()) {
    const Process& process = trace.processes.front();
    add_number(process.pid);
    add_number(process.rank);
    add(process.command_line);
  }
  auto add_first = [&](const auto& table) {
    for (std::size_t i = 0; i < std::min<std::size_t>(4, table.size()); ++i) {
      add_number(table.start[i].ns);
      add(trace.strings[table.name[i]]);
    }
  };
  add_first(trace.calls);
  add_first(trace.device_ops);
  // Ends are not used: while recording, open ranges get their ends later.
  for (std::size_t i = 0; i < std::min<std::size_t>(4, trace.ranges.size()); ++i) {
    add_number(trace.ranges.start[i].ns);
    add(trace.strings[trace.ranges.name[i]]);
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace headway::trace
