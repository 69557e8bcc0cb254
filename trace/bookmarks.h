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

/// A place somebody wants to find again, with what they noted about it.
struct Bookmark {
  Interval when;  ///< begin == end: a point
  std::string note;
  std::string id = {};          ///< the same in every file that it is copied to
  std::int64_t changed_ms = 0;  ///< UTC; of two versions the later one counts
  bool removed = false;         ///< kept in the file, so that another file does not bring it back

  bool operator==(const Bookmark&) const = default;
};

/// The bookmarks of a trace, in the order of time. Kept as `run.headway-notes.json` beside `run.sqlite`, a line each, never
/// in the trace. Files of several people unite by id. Notes that cannot be read are left out and
/// counted, and the file that had them is kept beside the new one.
class Bookmarks {
 public:
  static constexpr std::size_t kMost = 10'000;          ///< bookmarks of a trace
  static constexpr std::size_t kMostNoteBytes = 4'000;  ///< of one note; a longer one is cut

  const std::vector<Bookmark>& all() const { return all_; }
  /// Index of the new one; that of the same place when it has one already, whose note it replaces.
  /// Beyond kMost nothing is added and the index is that of the last.
  std::size_t add(Bookmark bookmark);
  /// Changes its time of change, so that this note wins over older ones of other files.
  void set_note(std::size_t index, std::string_view note);
  void remove(std::size_t index);

  /// Forgets what it has and reads a file; one that does not exist has no bookmarks. Returns how many were left
  /// out. Throws Error(kBadInput) for a file that cannot be read at all.
  std::size_t load(const std::filesystem::path& file);
  /// Adds what a file has: what is in both is there once, as it was changed last.
  std::size_t unite(const std::filesystem::path& file);
  /// Replaces the file at once with what it has and what we have; makes its folder. Throws
  /// Error(kBadInput) naming the file, which is then as it was.
  void save(const std::filesystem::path& file);

 private:
  void take(Bookmark bookmark);
  Bookmark* known(const Bookmark& other);

  std::vector<Bookmark> all_;
  std::vector<Bookmark> removed_;
};

/// Where the notes of a trace lie: `run.headway-notes.json` first, which is written, then those of
/// others that were put beside it, `run.NAME.headway-notes.json`. Empty unless `trace_file` is a file.
std::vector<std::filesystem::path> note_files_of(const std::filesystem::path& trace_file);

/// Whether a file of that name holds notes: it is no recording, though it lies among them.
bool is_note_file(std::string_view name);

/// What note_files_of() hold together; what cannot be read is left out.
Bookmarks notes_beside(const std::filesystem::path& trace_file);

/// A name for a trace that stays when its file is moved or copied, and while it is being recorded:
/// a hash of what is known of its processes and of its first events.
std::string identity_of(const Trace& trace);

}  // namespace headway::trace
