// SPDX-License-Identifier: MIT
#include "gui/models/search/event_export.h"

#include "analyzer/stats/table.h"
#include "gui/models/details/details.h"

namespace headway::gui {
namespace {

using analyzer::Cell;
using analyzer::ColumnKind;

constexpr std::size_t kRowsAPiece = 8192;

analyzer::Table empty_table() {
  analyzer::Table table{"events", "Events", "", {}, {}};
  table.columns = {
      {"kind", "Kind", ColumnKind::kText},      {"start_ns", "Start", ColumnKind::kDuration},
      {"end_ns", "End", ColumnKind::kDuration}, {"duration_ns", "Duration", ColumnKind::kDuration},
      {"name", "Name", ColumnKind::kText},      {"where", "Where", ColumnKind::kText},
      {"op", "Model op", ColumnKind::kText}};
  return table;
}

/// Collects rows and passes them on in pieces, with one header.
class Pieces {
 public:
  explicit Pieces(const std::function<void(std::string_view)>& write)
      : write_(write), table_(empty_table()) {}

  void add(std::string_view kind, Interval when, std::string_view name, const std::string& where,
           std::string_view op) {
    table_.rows.push_back({std::string(kind), when.begin.ns, when.end.ns,
                           (when.end - when.begin).ns, std::string(name), where, std::string(op)});
    ++rows_;
    if (table_.rows.size() == kRowsAPiece) flush();
  }

  void flush() {
    if (table_.rows.empty() && headed_) return;
    std::string text = analyzer::to_csv(table_);
    std::string_view rest = text;
    if (headed_) rest.remove_prefix(rest.find('\n') + 1);
    headed_ = true;
    write_(rest);
    table_.rows.clear();
  }

  std::size_t rows() const { return rows_; }

 private:
  const std::function<void(std::string_view)>& write_;
  analyzer::Table table_;
  bool headed_ = false;
  std::size_t rows_ = 0;
};

}  // namespace

std::size_t write_events_csv(const Session& session, const EventSelection& selection,
                             const std::function<void(std::string_view)>& write) {
  const trace::Trace& trace = session.trace;
  Pieces pieces(write);
  std::vector<std::string> threads;
  for (std::size_t i = 0; i < trace.threads.size(); ++i)
    threads.push_back(thread_label(trace, trace::ThreadId::from(i)));
  std::vector<std::string> streams;
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    streams.push_back(stream_label(trace, trace::StreamId::from(i)));
  const std::optional<trace::StringId> name =
      selection.name.empty() ? std::nullopt : trace.strings.find(selection.name);
  auto wanted = [&](Interval when, trace::StringId id) {
    if (!selection.name.empty()) return name && id == *name;
    // An event without duration overlaps the range that contains its time.
    return when.begin < selection.time.end &&
           (when.end > selection.time.begin || when.begin >= selection.time.begin);
  };
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    Interval when = trace.ranges.interval({i});
    if (wanted(when, trace.ranges.name[i]))
      pieces.add("range", when, trace.strings[trace.ranges.name[i]],
                 threads[trace.ranges.thread[i].value], "");
  }
  for (std::uint32_t i = 0; i < trace.calls.size(); ++i) {
    Interval when = trace.calls.interval({i});
    if (wanted(when, trace.calls.name[i]))
      pieces.add("call", when, trace.strings[trace.calls.name[i]],
                 threads[trace.calls.thread[i].value], "");
  }
  const analyzer::Attribution& attribution = session.analysis.attribution;
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    Interval when = trace.device_ops.interval({i});
    if (!wanted(when, trace.device_ops.name[i])) continue;
    std::uint32_t op = i < attribution.op_of.size() ? attribution.op_of[i].value : 0;
    std::string_view op_name;
    if (op < attribution.ops.size()) op_name = attribution.ops[op].name;
    pieces.add("device op", when, trace.strings[trace.device_ops.name[i]],
               streams[trace.device_ops.stream[i].value], op_name);
  }
  pieces.flush();
  return pieces.rows();
}

}  // namespace headway::gui
