// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::gui {

/// A place somebody wants to find again.
struct Bookmark {
  Interval when;  ///< begin == end: a point
  std::string note;

  bool operator==(const Bookmark&) const = default;
};

/// The bookmarks of a trace, in the order of time. Kept in a file of their own, one line each, never
/// in the trace; lines that cannot be read are left out and counted, and the file that had them is
/// kept beside the new one.
class Bookmarks {
 public:
  static constexpr std::size_t kMost = 10'000;
  static constexpr std::size_t kMostNoteBytes = 4'000;

  const std::vector<Bookmark>& all() const { return all_; }
  /// Index of the new one; that of the same place when it has one already, whose note it replaces.
  /// Beyond kMost nothing is added and the index is that of the last.
  std::size_t add(Bookmark bookmark);
  void set_note(std::size_t index, std::string_view note);
  void remove(std::size_t index);

  /// Reads a file; one that does not exist has no bookmarks. Returns how many lines were left out.
  /// Throws Error(kBadInput) for a file that cannot be read at all.
  std::size_t load(const std::filesystem::path& file);
  /// Replaces the file at once; makes its folder. Throws Error(kBadInput) naming the file.
  void save(const std::filesystem::path& file) const;

 private:
  std::vector<Bookmark> all_;
  bool damaged_ = false;  ///< the file on disk has lines that we could not read
};

/// A name for a trace that stays when its file is moved or copied, and while it is being recorded:
/// a hash of what is known of its processes and of its first events.
std::string identity_of(const trace::Trace& trace);

}  // namespace headway::gui
