// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// A source line of the recorded program, parsed from the name of a range.
struct SourcePlace {
  std::string file;  ///< as recorded: absolute, or relative to a folder of the recorded machine
  int line = 0;      ///< from 1

  bool operator==(const SourcePlace&) const = default;
};

/// Parses "train.py(42): step" (the Python stacks of profilers) and "train.py:42". None for names
/// without a place, for files whose suffix is not of source code and for control characters in
/// names.
std::optional<SourcePlace> source_place(std::string_view name);
/// "train.py(42)", ready to be shown.
std::string source_text(const SourcePlace& place);

/// A range around an event, or the event itself, whose name contains a source line.
struct SourceFrame {
  trace::RangeId range;
  SourcePlace place;
};
/// The frames of a target, innermost first, at most `most`: for a device op those of its launch,
/// for a stretch of device time those of its cause, for a step those of its range.
std::vector<SourceFrame> source_frames(const TimelineModel& model, const Target& target,
                                       std::size_t most);

/// The path of a source file on this machine, or why it is not found.
struct SourceFile {
  std::filesystem::path path;  ///< absolute; empty: not found
  std::string problem;         ///< a sentence; empty when found
};
/// Looks for an existing regular file: a relative one in the folder in which the recorded program
/// was started, beside the trace, in the folders of `search_path` (separated by colons) and in the
/// current folder, in this order. Accesses the file system, so not for every frame.
SourceFile find_source(const SourcePlace& place, const trace::Trace& trace,
                       std::string_view search_path);

}  // namespace headway::gui
