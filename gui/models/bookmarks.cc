// SPDX-License-Identifier: MIT
#include "gui/models/bookmarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>

#include "common/error.h"
#include "common/text.h"

namespace headway::gui {
namespace {

constexpr std::string_view kFirstLine = "headway bookmarks 1";
constexpr std::uintmax_t kMostFileBytes = 64'000'000;

/// One line: tabs, line ends and backslashes are written as \t, \n, \\.
std::string escaped(std::string_view note) {
  std::string result;
  for (char c : note) {
    if (c == '\\') {
      result += "\\\\";
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (c != '\r' && c != '\0') {
      result += c;
    }
  }
  return result;
}

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
  while (end > 0 && (note[end] & 0xC0) == 0x80) --end;  // not inside of a character
  return to_valid_utf8(note.substr(0, end));
}

std::optional<std::int64_t> take_number(std::string_view& line) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc{} || end == line.data() + line.size() || *end != '\t') return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return value;
}

std::optional<Bookmark> parse(std::string_view line) {
  // Times that no trace can have would break the arithmetic of the view.
  constexpr std::int64_t kMostNs = std::int64_t{20} * 365 * 24 * 3600 * 1'000'000'000 / 2;
  std::optional<std::int64_t> begin = take_number(line);
  std::optional<std::int64_t> end = begin ? take_number(line) : std::nullopt;
  if (!end || *end < *begin || *begin < -kMostNs || *end > kMostNs) return std::nullopt;
  return Bookmark{{{*begin}, {*end}}, fit(unescaped(line))};
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
    if (!bookmark.note.empty()) at->note = std::move(bookmark.note);
    return index;
  }
  if (all_.size() >= kMost) return all_.size() - 1;
  all_.insert(at, std::move(bookmark));
  return index;
}

void Bookmarks::set_note(std::size_t index, std::string_view note) {
  all_.at(index).note = fit(note);
}

void Bookmarks::remove(std::size_t index) {
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(index));
}

std::size_t Bookmarks::load(const std::filesystem::path& file) {
  all_.clear();
  damaged_ = false;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return 0;
  if (std::filesystem::file_size(file, error) > kMostFileBytes || error)
    fail_input("{}: is no file of bookmarks; move it away to make new ones.", file.string());
  std::ifstream in(file, std::ios::binary);
  if (!in) fail_input("{}: the bookmarks cannot be read.", file.string());
  std::size_t left_out = 0;
  std::string line;
  if (!std::getline(in, line) || line != kFirstLine) ++left_out;
  while (std::getline(in, line)) {
    std::optional<Bookmark> bookmark = parse(line);
    if (bookmark && all_.size() < kMost) {
      add(std::move(*bookmark));
    } else if (!line.empty()) {
      ++left_out;
    }
  }
  damaged_ = left_out > 0;
  return left_out;
}

void Bookmarks::save(const std::filesystem::path& file) const {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (damaged_ && std::filesystem::exists(file, error)) {
    std::filesystem::path kept = file;
    kept += ".damaged";
    std::filesystem::copy_file(file, kept, std::filesystem::copy_options::skip_existing, error);
  }
  std::filesystem::path part = file;
  part += ".part";
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  out << kFirstLine << '\n';
  for (const Bookmark& bookmark : all_) {
    out << bookmark.when.begin.ns << '\t' << bookmark.when.end.ns << '\t' << escaped(bookmark.note)
        << '\n';
  }
  out.close();
  if (out) std::filesystem::rename(part, file, error);
  if (!out || error) {
    fail_input("{}: the bookmarks cannot be kept. Is there room, and may you write there?",
               file.string());
  }
}

std::string identity_of(const trace::Trace& trace) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  auto add = [&](std::string_view text) {
    for (char c : text.substr(0, 4096))
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    hash = (hash ^ 0xff) * 1099511628211u;
  };
  auto add_number = [&](std::int64_t value) { add(fmt::format("{}", value)); };
  add_number(trace.start_utc_ns);
  if (!trace.processes.empty()) {
    const trace::Process& process = trace.processes.front();
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
  // Ranges that are open while recording get their ends later.
  for (std::size_t i = 0; i < std::min<std::size_t>(4, trace.ranges.size()); ++i) {
    add_number(trace.ranges.start[i].ns);
    add(trace.strings[trace.ranges.name[i]]);
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace headway::gui
