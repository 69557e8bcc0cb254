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

/// The notes on what a window shows. Those of a job lie beside the recording of the rank that they
/// are about, in that recording's own time, so that it has them when it is opened alone, too.
class TraceNotes {
 public:
  /// Reads what lies beside each part. `own_folder` (may be empty) is for notes that cannot be
  /// written there. Returns what is wrong with a file, in words; empty: nothing.
  std::string open(const trace::Trace& trace, const std::vector<TracePart>& parts,
                   const std::filesystem::path& own_folder);

  /// By time, on the clock of the trace that is shown.
  const std::vector<Bookmark>& all() const { return all_; }
  /// The part that a note is beside.
  std::size_t part_of(std::size_t index) const { return places_.at(index).book; }
  std::size_t parts() const { return books_.size(); }
  /// False: notes last as long as the window.
  bool are_kept() const;

  /// Each changes what `all` gives; `save` keeps it.
  void add(std::size_t part, Bookmark bookmark);
  void set_note(std::size_t index, std::string_view note);
  void remove(std::size_t index);
  /// Writes what changed, and takes in what others wrote since. Returns what is wrong, in words.
  std::string save();

 private:
  struct Book {
    Bookmarks notes;
    DurationNs shift;              ///< of the shown clock against the recording's own
    std::filesystem::path beside;  ///< empty: not to be written
    std::filesystem::path own;     ///< the user's, for where there is no writing beside
    bool changed = false;
  };
  struct Place {
    std::size_t book;
    std::size_t index;
  };
  static bool read(Book& book, const std::filesystem::path& file, std::string& trouble);
  static std::string save(Book& book);
  void collect();

  std::vector<Book> books_;  ///< as the parts
  std::vector<Bookmark> all_;
  std::vector<Place> places_;  ///< as `all_`
};

/// The part that something on the timeline is of, or else a row; the first where neither tells.
std::size_t part_of(const std::vector<TracePart>& parts, const TimelineModel& model,
                    const Target& target, RowId row);

}  // namespace headway::gui
