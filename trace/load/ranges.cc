// SPDX-License-Identifier: MIT
// NVTX_EVENTS and HEADWAY_RANGE -> Trace::ranges, range_info, domains; nesting by containment per
// thread.
#include <algorithm>

#include "trace/load/context.h"
#include "trace/load/foreign_values.h"
#include "trace/tables/nvtx_events.h"
#include "trace/tables/nvtx_payload_schema_entries.h"
#include "trace/tables/range_info.h"

namespace headway::trace::load_detail {
namespace {

// ENUM_NSYS_EVENT_TYPE values of NVTX_EVENTS.eventType.
constexpr std::int32_t kEventMark = 34;
constexpr std::int32_t kEventPushPop = 59;
constexpr std::int32_t kEventStartEnd = 60;
constexpr std::int32_t kEventDomain = 75;
/// Also when a recording is read from the middle, these first rows are read: they name the domains.
constexpr std::int64_t kRowsWithDomains = 2'000;

using DomainKey = std::pair<std::int64_t, std::int64_t>;  ///< globalPid, domainId

struct Part {
  Ranges ranges;  ///< `info` is not filled yet; names without textId are resolved from `texts` in
  ///< merge()
  std::vector<std::int64_t> rows;  ///< rowid of each range
  LocalIds<std::int64_t> threads;  ///< globalTid
  LocalIds<DomainKey> domains;
  std::vector<std::pair<std::size_t, std::string>> texts;  ///< index of the range, its inline text
  std::vector<std::pair<DomainKey, std::string>> new_domains;
  LossCounts losses{};

  void reserve(std::size_t rows_expected) { reserve_columns(ranges, rows_expected); }
};

using Table = tables::NvtxEvents;
using Row = Table::Row;
using Columns = sqlite::Select<Table, &Row::start, &Row::end, &Row::event_type, &Row::text,
                               &Row::text_id, &Row::global_tid, &Row::domain_id>;

void collect(const Context& context, Part& part, std::int64_t row_id, const Row& row) {
  if (row.event_type == kEventDomain) {
    if (!row.domain_id) return;
    std::string_view name =
        row.text      ? *row.text
        : row.text_id ? context.trace.strings[context.string(row.text_id->value, part.losses)]
                      : std::string_view{};
    part.new_domains.emplace_back(
        DomainKey{global_pid_of(row.global_tid.value_or(0)), *row.domain_id}, name);
    return;
  }
  bool mark = row.event_type == kEventMark;
  if (!mark && row.event_type != kEventPushPop && row.event_type != kEventStartEnd) return;
  std::uint8_t flags = mark                               ? Ranges::kMark
                       : row.event_type == kEventStartEnd ? Ranges::kStartEnd
                                                          : 0;
  std::int64_t end = row.end.value_or(row.start);
  if (!mark && !row.end) {
    flags |= Ranges::kUnfinished;
    end = std::max(row.start, context.trace.end.ns);
  }
  if (mark && context.stretch && row.start < context.stretch->begin.ns) return;
  if (!usable(part.losses, row.start, end)) return;
  Ranges& out = part.ranges;
  if (row.text_id) {
    out.name.push_back(context.string(row.text_id->value, part.losses));
  } else {
    part.texts.emplace_back(out.size(), row.text.value_or(""));
    out.name.push_back({});
  }
  out.start.push_back({row.start});
  out.end.push_back({end});
  out.thread.push_back(ThreadId{part.threads(row.global_tid.value_or(0))});
  out.domain.push_back(DomainId::from(
      part.domains({global_pid_of(row.global_tid.value_or(0)), row.domain_id.value_or(0)})));
  out.flags.push_back(flags);
  part.rows.push_back(row_id);
}

/// Maps a domain id of a process to a domain of the trace; domains with the same name are the same.
void add_domain(Context& context, const DomainKey& key, const std::string& name) {
  std::vector<std::string>& domains = context.trace.domains;
  auto known = std::find(domains.begin(), domains.end(), name);
  if (known == domains.end()) {
    if (domains.size() >= UINT16_MAX) return;
    domains.push_back(name);
    known = std::prev(domains.end());
  }
  DomainId id = DomainId::from(static_cast<std::size_t>(known - domains.begin()));
  context.domain_ids.try_emplace(key, id);
  context.domain_ids.try_emplace({0, key.second}, id);
}

/// An export that was cut to a window lacks the rows that name domains; NCCL's domain is recognised by
/// the fields of its payloads.
void name_nccl_domains(Context& context) {
  using Entry = tables::NvtxPayloadSchemaEntries::Row;
  sqlite::Select<tables::NvtxPayloadSchemaEntries, &Entry::domain_id, &Entry::entry_name>::run(
      context.db, [&](std::int64_t, const Entry& row) {
        if (row.entry_name == "NCCL communicator ID" &&
            !context.domain_ids.contains({0, row.domain_id}))
          add_domain(context, {0, row.domain_id}, "NCCL");
      });
}

void merge(Context& context, std::vector<Part> parts, std::vector<std::int64_t>& rows) {
  Trace& trace = context.trace;
  trace.domains.assign(1, "");
  for (const Part& part : parts) {
    for (const auto& [key, name] : part.new_domains) add_domain(context, key, name);
  }
  name_nccl_domains(context);
  for (Part& part : parts) {
    std::vector<ThreadId> threads;
    for (std::int64_t global_tid : part.threads.keys) threads.push_back(context.thread(global_tid));
    std::vector<DomainId> domains;
    for (const DomainKey& key : part.domains.keys) {
      auto found = context.domain_ids.find(key);
      // A domain that any process named is used for all processes with the same id.
      if (found == context.domain_ids.end()) found = context.domain_ids.find({0, key.second});
      domains.push_back(found == context.domain_ids.end() || key.second == 0 ? DomainId{0}
                                                                             : found->second);
    }
    for (const auto& [index, text] : part.texts) part.ranges.name[index] = trace.strings.add(text);
    for (ThreadId& thread : part.ranges.thread) thread = threads[thread.value];
    for (DomainId& domain : part.ranges.domain) domain = domains[domain.value];
    context.add_losses(part.losses);
    append_columns(trace.ranges, part.ranges);
    rows.insert(rows.end(), part.rows.begin(), part.rows.end());
    part = {};
  }
}

/// Lets a range that never ended last until the end of its process.
void close_unfinished(Trace& trace) {
  Ranges& ranges = trace.ranges;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (!(ranges.flags[i] & Ranges::kUnfinished)) continue;
    const std::optional<TimeNs>& end =
        trace.processes[trace.threads[ranges.thread[i].value].process.value].end;
    if (end && *end >= ranges.start[i]) ranges.end[i] = *end;
  }
}

/// Moves a wait that was reported later to its real time: it began `sequence` µs before the range that reports it, and took
/// `op` µs. Other ranges of this kind have no sequence.
void place_wait(Trace& trace, std::size_t range, RangeInfo& info) {
  constexpr std::int64_t kMost = 3'600'000'000;  // µs
  const std::int64_t begun = std::clamp<std::int64_t>(info.sequence, 0, kMost);
  const std::int64_t took = std::clamp<std::int64_t>(info.op, 0, begun);
  const std::int64_t start = trace.ranges.start[range].ns - begun * 1000;
  if (!possible(start)) return;
  trace.ranges.start[range] = {start};
  trace.ranges.end[range] = {start + took * 1000};
  info.op = conventions::kAbsent;
  info.sequence = conventions::kAbsent;
}

/// Renames "step" ranges that turned out to be evaluations: a range gets its name at its begin, and says at its end what it
/// was.
void rename_evaluations(Trace& trace) {
  StringId evaluation = StringId::none();
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    const RangeInfo* info = trace.info(RangeId::from(i));
    if (!info || info->kind != RangeKind::kPhase || info->phase != Phase::kEvaluation ||
        trace.strings[trace.ranges.name[i]] != "step")
      continue;
    if (!evaluation.valid()) evaluation = trace.strings.add("evaluation batch");
    trace.ranges.name[i] = evaluation;
  }
}

/// `rows`: rowid of each range, ascending like HEADWAY_RANGE, so one pass over both joins them.
void load_info(Context& context, const std::vector<std::int64_t>& rows, std::int64_t first) {
  Trace& trace = context.trace;
  trace.ranges.info.assign(trace.ranges.size(), RangeInfoId::none());
  std::size_t next = 0;
  using Info = tables::RangeInfo;
  using R = Info::Row;
  sqlite::Select<Info, &R::range_row, &R::kind, &R::phase, &R::op, &R::batch, &R::step, &R::bytes,
                 &R::flops, &R::sequence, &R::shapes, &R::dtypes,
                 &R::cut_at>::run(context.db, first, INT64_MAX, [&](std::int64_t, const R& row) {
    while (next < rows.size() && rows[next] < row.range_row) ++next;
    if (next == rows.size() || rows[next] != row.range_row) return;
    if (row.cut_at && possible(*row.cut_at) && *row.cut_at >= trace.ranges.start[next].ns)
      trace.ranges.end[next] = {*row.cut_at};
    if (!row.kind) return;
    trace.ranges.info[next] = RangeInfoId::from(trace.range_info.size());
    RangeInfo& info = trace.range_info.emplace_back();
    info.kind = enum_or(*row.kind, RangeKind::kOther);
    info.phase = enum_or(row.phase, Phase::kNone);
    info.op = id_of(row.op);
    info.batch = id_of(row.batch);
    info.step = id_of(row.step);
    info.bytes = bytes_of(row.bytes);
    info.flops = flops_of(row.flops);
    info.sequence = id_of(row.sequence);
    if (info.kind == RangeKind::kInputWait && row.op.value_or(-1) >= 0 &&
        row.sequence.value_or(-1) >= *row.op)
      place_wait(trace, next, info);
    if (row.shapes) info.shapes = context.string(row.shapes->value);
    if (row.dtypes) info.dtypes = context.string(row.dtypes->value);
  });
}

}  // namespace

void load_ranges(Context& context) {
  const std::int64_t first = context.first_row(Table::name);
  const std::string domains = fmt::format("eventType={}", kEventDomain);
  std::vector<Part> parts = Columns::run_parallel<Part>(
      context.db, context.threads,
      [&](Part& part, std::int64_t id, const Row& row) { collect(context, part, id, row); },
      context.stretch ? fmt::format("({} OR ({}))", domains, context.in_stretch()) : "", first);
  if (first > INT64_MIN) {
    Part named;
    Columns::run(
        context.db, INT64_MIN, std::min(first - 1, kRowsWithDomains),
        [&](std::int64_t id, const Row& row) { collect(context, named, id, row); }, domains);
    parts.insert(parts.begin(), std::move(named));
  }
  std::vector<std::int64_t> rows;
  merge(context, std::move(parts), rows);
  close_unfinished(context.trace);
  load_info(context, rows, first);
  rename_evaluations(context.trace);
  RowMap& map = context.row_map(RowTable::kRange);
  RowTracker tracker;
  for (std::size_t i = 0; i < rows.size() && !map.rows.empty(); ++i) tracker.saw(map, rows[i], i);
  tracker.finish(map, 0);
}

void sort_ranges(Context& context) {
  follow_order(context.row_map(RowTable::kRange),
               sort_events(context.trace.ranges, context.threads));
  nest(context.trace);
}

}  // namespace headway::trace::load_detail
