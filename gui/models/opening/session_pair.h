// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/diff/diff.h"
#include "gui/models/opening/session.h"

namespace headway::gui {

/// The two traces of a comparison: A is what was, B is judged.
enum class Side : std::uint8_t { kA, kB };
constexpr Side other(Side side) {
  return side == Side::kA ? Side::kB : Side::kA;
}

/// A step of A beside one of B: indexes into the bars of each side's first step chart.
struct StepPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  bool operator==(const StepPair&) const = default;
};

/// What a class of time takes of the mean steady step of each side; of the span without steps.
struct ClassChange {
  analyzer::TimeClass time_class = analyzer::TimeClass::kUnknown;
  DurationNs a;
  DurationNs b;
  DurationNs change() const { return b - a; }
};

/// Two open traces and what changed from A to B. Immutable; times inside are those of each trace.
struct SessionPair {
  std::array<std::shared_ptr<const Session>, 2> sessions;  ///< by Side
  analyzer::Diff diff;
  std::vector<ClassChange> classes;  ///< those with time on either side, in their order

  const Session& session(Side side) const { return *sessions[static_cast<std::size_t>(side)]; }
  /// Of the first device that has steps, else of the host; empty without steps.
  const std::vector<StepBar>& bars(Side side) const;
  bool has_steps() const { return !bars(Side::kA).empty() && !bars(Side::kB).empty(); }
  DurationNs total(Side side) const;  ///< of `classes`
  /// The classes that changed by a thousandth of the longer step or more, largest change first.
  std::vector<ClassChange> changed_classes() const;

  /// The steady steps of median length of each side; the first ones where none is steady. None
  /// unless both sides have steps.
  std::optional<StepPair> median_steps() const;
  /// The step of A with that number, as the program counts, beside that of B.
  std::optional<StepPair> steps_numbered(std::int64_t number) const;
  /// Both sides one step on, or back; the same pair where a side has no more.
  StepPair stepped(StepPair pair, bool forward) const;
  /// What is aligned: the steps' intervals, or the sides' whole device time without steps.
  Interval interval(Side side, std::optional<StepPair> pair) const;

  /// Where a row of the diff's table with that id is seen on one side: inside the pair's step, else
  /// the longest of all steady steps. None where that side has nothing of it, and for tables whose
  /// rows are no events. `row` is an index into Table::rows.
  Target place_of(Side side, std::string_view table, std::size_t row,
                  std::optional<StepPair> pair) const;
  /// The longest stretch of a class in the pair's step; none where the side has none there.
  Target place_of(Side side, analyzer::TimeClass time_class, std::optional<StepPair> pair) const;
  /// The event of the other side that does the work of a device op: the same op of the model or
  /// kernel, as often repeated since the step began. None without one, and without
  /// steps.
  Target counterpart(Side from, const Target& target, std::optional<StepPair> pair) const;

 private:
  friend std::shared_ptr<const SessionPair> make_session_pair(std::shared_ptr<const Session>,
                                                              std::shared_ptr<const Session>);
  /// The rows of a table by what a device op says of itself.
  struct RowIndex {
    std::vector<std::uint32_t> row_of;          ///< by OpId or StringId; kNoRow
    std::vector<trace::DeviceOpId> longest_of;  ///< by row
  };
  static constexpr std::uint32_t kNoRow = UINT32_MAX;
  struct Rows {
    RowIndex ops;
    RowIndex kernels;
  };
  void index_rows(Side side);
  std::uint32_t row_of(Side side, bool by_op, std::uint32_t device_op) const;
  template <class Visit>
  void for_each_op(Side side, Interval where, Visit visit) const;

  std::array<Rows, 2> rows_;  ///< by Side
};

/// Compares two open traces. Cost: linear in the device ops of both. Any thread.
std::shared_ptr<const SessionPair> make_session_pair(std::shared_ptr<const Session> a,
                                                     std::shared_ptr<const Session> b);

}  // namespace headway::gui
