// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::trace {

/// A place in a trace that a user wants to find again, with a note about it.
struct Bookmark {
  Interval when;  ///< begin == end: a point
  std::string note;
  std::string id = {};          ///< the same in every file that it is copied to
  std::int64_t changed_ms = 0;  ///< UTC; of two versions the later one counts
  bool removed = false;         ///< kept in the file, so that another file does not restore it

  bool operator==(const Bookmark&) const = default;
};

/// The bookmarks of a trace, in the order of time. They are kept as `run.headway-notes.json` beside `run.sqlite`, one per
/// line, never in the trace. Files of several users are merged by id. Notes that cannot be read are left out and counted,
/// and the file that contained them is kept beside the new one.
class Bookmarks {
 public:
  static constexpr std::size_t kMost = 10'000;          ///< limit of bookmarks per trace
  static constexpr std::size_t kMostNoteBytes = 4'000;  ///< limit per note; longer notes are cut

  const std::vector<Bookmark>& all() const { return all_; }
  /// Adds a bookmark and returns its index. If the same place has a bookmark already, its note is
  /// replaced. Beyond kMost nothing is added, and the index is that of the last bookmark.
  std::size_t add(Bookmark bookmark);
  /// Sets the note and the time of change, so that this note replaces older ones of other files.
  void set_note(std::size_t index, std::string_view note);
  void remove(std::size_t index);

  /// Replaces all bookmarks by those of a file; a missing file has none. Returns the number of notes that were
  /// left out. Throws Error(kBadInput) for a file that cannot be read at all.
  std::size_t load(const std::filesystem::path& file);
  /// Merges the bookmarks of a file; of two versions of a bookmark, the one changed last is kept. Returns as load().
  std::size_t unite(const std::filesystem::path& file);
  /// Merges the file's bookmarks, then replaces the file atomically; makes its folder. Throws
  /// Error(kBadInput) that names the file, which is then unchanged.
  void save(const std::filesystem::path& file);

 private:
  void take(Bookmark bookmark);
  Bookmark* known(const Bookmark& other);

  std::vector<Bookmark> all_;
  std::vector<Bookmark> removed_;
};

/// The note files of a trace: first `run.headway-notes.json`, which is written, then files of other
/// users beside it, `run.NAME.headway-notes.json`. Empty unless `trace_file` is a file.
std::vector<std::filesystem::path> note_files_of(const std::filesystem::path& trace_file);

/// Whether a file with this name holds notes. It may lie in a folder of recordings but is not one.
bool is_note_file(std::string_view name);

/// The bookmarks of all note_files_of(); files and notes that cannot be read are left out.
Bookmarks notes_beside(const std::filesystem::path& trace_file);

/// A name for a trace that stays the same when its file is moved or copied, and while it is being
/// recorded: a hash over its processes and its first events.
std::string identity_of(const Trace& trace);

}  // namespace headway::trace
