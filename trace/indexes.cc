// SPDX-License-Identifier: MIT
#include "trace/indexes.h"

#include <numeric>

#include "common/parallel.h"

namespace headway::trace {
namespace {

template <class RowId, class Key>
void group(const std::vector<Key>& keys, std::size_t key_count, GroupIndex<RowId, Key>& index) {
  index.offset.assign(key_count + 1, 0);
  for (Key key : keys) ++index.offset[key.value + 1];
  std::partial_sum(index.offset.begin(), index.offset.end(), index.offset.begin());
  index.rows.resize(keys.size());
  std::vector<std::uint32_t> next(index.offset.begin(), index.offset.end() - 1);
  for (std::size_t i = 0; i < keys.size(); ++i) index.rows[next[keys[i].value]++] = RowId::from(i);
}

}  // namespace

void build_indexes(Trace& trace) {
  run_parallel(4, [&](std::size_t table) {
    if (table == 0) group(trace.ranges.thread, trace.threads.size(), trace.ranges_of_thread);
    if (table == 1) group(trace.calls.thread, trace.threads.size(), trace.calls_of_thread);
    if (table == 2) group(trace.device_ops.stream, trace.streams.size(), trace.ops_of_stream);
    if (table == 3) group(trace.io.thread, trace.threads.size(), trace.io_of_thread);
  });
  trace.graph_op_index.clear();
  for (std::size_t i = 0; i < trace.graph_ops.size(); ++i)
    trace.graph_op_index[{trace.graph_ops[i].process, trace.graph_ops[i].op}] = GraphOpId::from(i);
}

}  // namespace headway::trace
