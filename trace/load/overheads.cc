// SPDX-License-Identifier: MIT
// CUPTI_ACTIVITY_KIND_OVERHEAD and PROFILER_OVERHEAD -> Trace::overheads.
#include <algorithm>

#include "trace/load/context.h"
#include "trace/load/cupti_enums.h"
#include "trace/tables/overhead.h"
#include "trace/tables/profiler_overhead.h"

namespace headway::trace::load_detail {
namespace {

template <class Row>
void add(Context& context, const Row& row, Overhead::Kind kind) {
  if (!usable(context.losses, row.start, row.end)) return;
  Overhead overhead;
  overhead.interval = {{row.start}, {row.end}};
  if (row.global_tid) overhead.thread = context.thread(*row.global_tid);
  if (row.name_id) overhead.name = context.string(row.name_id->value);
  overhead.kind = kind;
  context.trace.overheads.push_back(overhead);
}

}  // namespace

void load_overheads(Context& context) {
  using Cupti = tables::Overhead::Row;
  sqlite::Select<tables::Overhead, &Cupti::start, &Cupti::end, &Cupti::global_tid, &Cupti::name_id,
                 &Cupti::overhead_type>::run(context.db, context.first_row(tables::Overhead::name),
                                             INT64_MAX, [&](std::int64_t, const Cupti& row) {
                                               add(context, row, overhead_kind(row.overhead_type));
                                             });
  using Nsys = tables::ProfilerOverhead::Row;
  sqlite::Select<tables::ProfilerOverhead, &Nsys::start, &Nsys::end, &Nsys::global_tid,
                 &Nsys::name_id>::run(context.db, [&](std::int64_t, const Nsys& row) {
    add(context, row, Overhead::Kind::kProfiler);
  });
  std::stable_sort(
      context.trace.overheads.begin(), context.trace.overheads.end(),
      [](const Overhead& a, const Overhead& b) { return a.interval.begin < b.interval.begin; });
}

}  // namespace headway::trace::load_detail
