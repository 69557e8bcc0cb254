// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "trace/trace.h"

namespace headway::gui {

/// All events whose name, or whose op of the model, contains a text (ASCII letters in either case).
/// Made on any thread; immutable after that. Keeps a bit per text of the trace, not a list of hits,
/// so a letter that is in every name costs no memory.
class Search {
 public:
  /// Gives up, with no hits, when `*cancelled` becomes true.
  Search(const trace::Trace& trace, const analyzer::Analysis& analysis, std::string_view needle,
         const std::atomic<bool>* cancelled = nullptr);

  const std::string& needle() const { return needle_; }
  std::size_t hits() const { return hits_; }
  bool matches(analyzer::EventRef event) const;

  /// The nearest hit after (before) `from` in the order of start, round the end; any hit after the
  /// start of the trace when `from` is none.
  std::optional<analyzer::EventRef> next(analyzer::EventRef from, bool forward) const;
  /// 1 for the first hit by start; 0 when the event is no hit.
  std::size_t position(analyzer::EventRef event) const;

 private:
  const trace::Trace* trace_;
  const analyzer::Analysis* analysis_;
  std::string needle_;
  std::vector<bool> string_matches_;  ///< by StringId
  std::vector<bool> op_matches_;      ///< by OpId
  std::size_t hits_ = 0;
};

/// The next event of the same kind and name in the order of start; none when there is no other.
std::optional<analyzer::EventRef> next_of_same_name(const trace::Trace& trace,
                                                    analyzer::EventRef from, bool forward);

}  // namespace headway::gui
