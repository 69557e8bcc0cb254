// SPDX-License-Identifier: MIT
// A rank that keeps the others waiting takes the time of its peers for each piece of work. Ranks
// of one job do the same work in the same order, so the n-th piece of a stream or thread in a
// step is matched with the peers' n-th piece. It is counted within a step, because recordings
// may begin and end anywhere.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/evidence/pipeline.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/expert_layers.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// A rank is slow if its work takes more than this multiple of the median rank's.
constexpr double kSlow = 1.02;

/// A piece of a rank's work: an op's or call's own time, or a pause of its thread. Cuts may divide
/// the pause into the slots from `first` to `last`.
struct Piece {
  Slot first;
  Slot last;
  DurationNs own;
};

/// A stream or thread of a process in one step. `which`: its index in the order in which the
/// process created them.
struct Row {
  bool thread = false;
  std::uint32_t which = 0;
  std::int64_t step = 0;  ///< as the program counts; -1 before the first
  auto operator<=>(const Row&) const = default;
};
using Rows = std::map<Row, std::vector<Piece>>;

bool is_own(const Constraint& constraint) {
  return constraint.kind == EdgeKind::kDuration || constraint.kind == EdgeKind::kThreadOrder;
}

/// The pieces of all ranks in the order of time.
class Pieces {
 public:
  explicit Pieces(const Predictor& predictor)
      : program_(predictor.program()),
        points_(program_.graph().points()),
        trace_(predictor.trace()),
        which_(trace_.threads.size(), kNone),
        of_experts_(trace_.device_ops.size()) {
    for (const auto& layer : expert_layers(predictor))
      for (const ExpertPart& part : layer)
        for (DeviceOpId op : part.kernels) of_experts_[op.value] = true;
    steps_.resize(trace_.processes.size());
    for (const Step& step : predictor.analysis().steps.all)
      steps_[trace_.threads[step.thread.value].process.value].emplace_back(step.host.begin,
                                                                           step.number);
    for (auto& its : steps_) std::ranges::sort(its);
    for (ThreadId thread : trace_.calls.thread) which_[thread.value] = 0;
    std::vector<std::uint32_t> next(trace_.processes.size());
    for (std::size_t t = 0; t < which_.size(); ++t) {
      if (which_[t] != kNone) which_[t] = next[trace_.threads[t].process.value]++;
    }
  }

  /// Calls `visit` with the process, the row and the piece. Left out are threads that launch
  /// nothing, processes that are not ranks, kernels of experts, and calls that only wait: whether a
  /// rank waits, and so makes the call, depends on the others.
  template <class Visit>
  void for_each(Visit visit) const {
    Piece piece{{0}, {0}, {}};
    for (std::uint32_t s = 0; s < program_.size(); ++s) {
      program_.for_each(Slot{s}, [&](const Constraint& constraint) {
        if (is_own(constraint)) piece.own += constraint.lag;
      });
      const PointId point = program_.point_of(Slot{s});
      if (!point.valid()) continue;
      piece.last = Slot{s};
      ProcessId process;
      Row row;
      if (place(task_of(point), process, row) && trace_.processes[process.value].rank >= 0)
        visit(process, row, piece);
      piece = {Slot{s + 1}, Slot{s + 1}, {}};
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  bool place(TaskId task, ProcessId& process, Row& row) const {
    if (const DeviceOpId op = points_.op_of(task); op.valid()) {
      if (of_experts_[op.value]) return false;
      const Stream& stream = trace_.streams[trace_.device_ops.stream[op.value].value];
      process = stream.process;
      const CallId launch = trace_.device_ops.call[op.value];
      const TimeNs when =
          launch.valid() ? trace_.calls.start[launch.value] : trace_.device_ops.start[op.value];
      row = {false, static_cast<std::uint32_t>(stream.ordinal), step_at(process, when)};
      return true;
    }
    const ThreadId thread = points_.thread_of(task);
    if (!thread.valid() || which_[thread.value] == kNone) return false;
    const CallId call = points_.call_of(task);
    if (call.valid() && only_waits(trace_.calls.kind[call.value])) return false;
    process = trace_.threads[thread.value].process;
    row = {true, which_[thread.value], step_at(process, points_.time(start_of(task)))};
    return true;
  }

  std::int64_t step_at(ProcessId process, TimeNs when) const {
    const auto& its = steps_[process.value];
    const auto after = std::ranges::upper_bound(its, std::pair(when, INT64_MAX));
    return after == its.begin() ? -1 : (after - 1)->second;
  }

  const Program& program_;
  const Points& points_;
  const Trace& trace_;
  std::vector<std::vector<std::pair<TimeNs, std::int64_t>>> steps_;  ///< by process: begin, number
  std::vector<std::uint32_t>
      which_;  ///< by thread: its index among the threads of its process; kNone: no calls
  std::vector<bool>
      of_experts_;  ///< by op: true if its time depends on where tokens go (even-experts)
};

DurationNs middle_of(std::vector<DurationNs>& values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void set_piece(Editor& editor, const Program& program, const Piece& piece, DurationNs to) {
  const double by = piece.own.ns > 0 ? ratio(to, piece.own) : 0;
  for (std::uint32_t s = piece.first.value; s <= piece.last.value; ++s) {
    program.for_each(Slot{s}, [&](const Constraint& constraint) {
      if (!is_own(constraint)) return;
      editor.set_lag(constraint.id, {std::llround(by * static_cast<double>(constraint.lag.ns))});
    });
  }
}

struct SlowRanks {
  std::vector<ProcessId> all;
  bool compared = false;  ///< at least two ranks have such pieces
  double most = 0;        ///< excess of the slowest rank over the median rank, as a share
};

/// The processes of slow ranks, by the sum of each rank's pieces.
SlowRanks slow_ranks(const Pieces& pieces, std::size_t processes) {
  std::vector<DurationNs> total(processes);
  pieces.for_each(
      [&](ProcessId process, Row, const Piece& piece) { total[process.value] += piece.own; });
  std::vector<DurationNs> ranks;
  std::ranges::copy_if(total, std::back_inserter(ranks), [](DurationNs one) { return one.ns > 0; });
  SlowRanks slow;
  if (ranks.size() < 2) return slow;
  slow.compared = true;
  const DurationNs usual = middle_of(ranks);
  for (std::size_t p = 0; p < processes; ++p) {
    slow.most = std::max(slow.most, ratio(total[p], usual) - 1);
    if (ratio(total[p], usual) >= kSlow) slow.all.push_back(ProcessId::from(p));
  }
  return slow;
}

/// Sets the pieces of a slow rank's row to the median of its peers' pieces.
void follow_peers(const std::vector<Piece>& pieces,
                  std::span<const std::vector<Piece>* const> peers, const Program& program,
                  Editor& editor) {
  std::vector<DurationNs> theirs(peers.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::ranges::transform(peers, theirs.begin(),
                           [&](const std::vector<Piece>* peer) { return (*peer)[i].own; });
    set_piece(editor, program, pieces[i], middle_of(theirs));
  }
}

/// Groups the rows of all ranks at the same place of the same step, if all have equally many
/// pieces.
std::vector<std::vector<const std::vector<Piece>*>> same_work(const std::vector<Rows>& rows) {
  std::vector<const Rows*> ranks;
  for (const Rows& its : rows)
    if (!its.empty()) ranks.push_back(&its);
  std::vector<std::vector<const std::vector<Piece>*>> all;
  if (ranks.size() < 2) return all;
  for (const auto& [row, first] : *ranks.front()) {
    if (row.thread || row.step < 0) continue;
    std::vector<const std::vector<Piece>*> alike;
    for (const Rows* its : ranks)
      if (const auto at = its->find(row); at != its->end() && at->second.size() == first.size())
        alike.push_back(&at->second);
    if (alike.size() == ranks.size()) all.push_back(std::move(alike));
  }
  return all;
}

DurationNs total(const std::vector<Piece>& pieces) {
  DurationNs sum;
  for (const Piece& piece : pieces) sum += piece.own;
  return sum;
}

/// For batches of unequal work: another rank is slow in each step, by more than any rank is over
/// all steps. Each piece takes the mean of all ranks.
Proposal even_batches(const Predictor& predictor, const std::vector<Rows>& rows, double over_all,
                      bool compared) {
  const double uneven = std::max(0.02, 2 * over_all);
  const auto work = same_work(rows);
  DurationNs means;
  DurationNs longest;
  for (const auto& ranks : work) {
    DurationNs sum;
    DurationNs most;
    for (const std::vector<Piece>* one : ranks) {
      sum += total(*one);
      most = std::max(most, total(*one));
    }
    means += sum / static_cast<std::int64_t>(ranks.size());
    longest += most;
  }
  if (means.ns == 0 || ratio(longest, means) < 1 + uneven)
    return not_here(
        compared ? "no rank's device work and API calls take 2 % longer than the median rank's, "
                   "overall or per step"
                 : "ranks are compared by device work and API calls, and fewer than two ranks have "
                   "any in this recording");
  Editor editor(predictor);
  for (const auto& ranks : work) {
    for (std::size_t i = 0; i < ranks.front()->size(); ++i) {
      DurationNs sum;
      for (const std::vector<Piece>* one : ranks) sum += (*one)[i].own;
      const DurationNs mean = sum / static_cast<std::int64_t>(ranks.size());
      for (const std::vector<Piece>* one : ranks)
        set_piece(editor, predictor.program(), (*one)[i], mean);
    }
  }
  Proposal proposal{
      true,
      fmt::format("in each step all ranks have the mean work, {} less than the busiest",
                  format_percent(1 - ratio(means, longest))),
      editor.take()};
  proposal.setting = "--balance sorted";
  return proposal;
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  if (find_pipeline(rule_context(predictor)).stages.size() > 1)
    return not_here("the ranks are pipeline stages with different parts of the model");
  const Pieces pieces(predictor);
  const SlowRanks slow = slow_ranks(pieces, trace.processes.size());
  std::vector<Rows> rows(trace.processes.size());
  pieces.for_each([&](ProcessId process, Row row, const Piece& piece) {
    rows[process.value][row].push_back(piece);
  });
  Proposal by_step = even_batches(predictor, rows, slow.most, slow.compared);
  if (by_step.applies || slow.all.empty()) return by_step;
  Editor editor(predictor);
  std::string names;
  for (ProcessId one : slow.all) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", trace.processes[one.value].rank);
    for (const auto& [row, its] : rows[one.value]) {
      std::vector<const std::vector<Piece>*> peers;
      for (std::size_t p = 0; p < rows.size(); ++p) {
        const auto at = rows[p].find(row);
        if (p != one.value && at != rows[p].end() && at->second.size() == its.size())
          peers.push_back(&at->second);
      }
      if (!peers.empty()) follow_peers(its, peers, predictor.program(), editor);
    }
  }
  if (editor.empty())
    return not_here(fmt::format("rank {} does different work from its peers", names));
  return {true, fmt::format("rank {} takes its peers' time for each piece of work", names),
          editor.take()};
}

}  // namespace

const Fix kEvenRanks{"even-ranks",
                     "Bring the slow rank to the level of its peers",
                     "straggler, uneven-batches",
                     FixKind::kModelled,
                     0.1,
                     "",
                     "For a rank over 2 % slower than the median rank, each op, call and pause "
                     "takes its time on the other ranks. If the busiest rank changes between "
                     "steps, each kernel takes the mean over ranks.",
                     "why the rank is slow, and whether the work can be balanced",
                     propose};

}  // namespace headway::analyzer
