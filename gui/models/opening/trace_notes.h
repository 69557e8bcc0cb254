// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gui/models/opening/trace_source.h"
#include "gui/models/timeline/bookmarks.h"
#include "gui/models/timeline/timeline_model.h"
#include "trace/trace.h"

namespace headway::gui {

/// The notes on the traces of a window. Those of a job are stored beside the recording of the rank
/// that they are about, in the time of that recording, so that the recording has them when it is
/// opened alone.
class TraceNotes {
 public:
  /// Reads the notes beside each part. `own_folder` (may be empty) is for notes that cannot be
  /// written there. Returns a text about files with errors; empty: no errors.
  std::string open(const trace::Trace& trace, const std::vector<TracePart>& parts,
                   const std::filesystem::path& own_folder);

  /// By time, on the clock of the shown trace.
  const std::vector<Bookmark>& all() const { return all_; }
  /// The part beside which a note is stored.
  std::size_t part_of(std::size_t index) const { return places_.at(index).book; }
  std::size_t parts() const { return books_.size(); }
  /// False: notes are lost when the window closes.
  bool are_kept() const;

  /// Each of these changes `all`; `save` stores the change.
  void add(std::size_t part, Bookmark bookmark);
  void set_note(std::size_t index, std::string_view note);
  void remove(std::size_t index);
  /// Writes the changes, and merges in what others wrote since. Returns an error text; empty: none.
  std::string save();

 private:
  struct Book {
    Bookmarks notes;
    DurationNs shift;              ///< offset of the shown clock from the recording's own
    std::filesystem::path beside;  ///< file beside the recording; empty: not writable
    std::filesystem::path own;     ///< file in the user's folder, used if `beside` is not writable
    bool changed = false;
  };
  struct Place {
    std::size_t book;
    std::size_t index;
  };
  static bool read(Book& book, const std::filesystem::path& file, std::string& trouble);
  static std::string save(Book& book);
  void collect();

  std::vector<Book> books_;  ///< parallel to the parts
  std::vector<Bookmark> all_;
  std::vector<Place> places_;  ///< parallel to `all_`
};

/// The part of a target on the timeline, else of a row; the first part if neither belongs to one.
std::size_t part_of(const std::vector<TracePart>& parts, const TimelineModel& model,
                    const Target& target, RowId row);

}  // namespace headway::gui
