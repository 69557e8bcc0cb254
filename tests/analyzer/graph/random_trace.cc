// SPDX-License-Identifier: MIT
#include "tests/analyzer/graph/random_trace.h"

#include <algorithm>

#include "tests/support/property.h"

namespace headway::test {

using namespace trace;

const Trace& random_trace(GraphTrace& t) {
  ProcessId processes[] = {t.process(0), t.process(1)};
  std::vector<ThreadId> threads;
  std::vector<StreamId> streams;
  for (int i = 0; i < 4; ++i) threads.push_back(t.thread(processes[i % 2]));
  for (int i = 0; i < 4; ++i) streams.push_back(t.stream(processes[i % 2]));
  struct NewOp {
    std::int64_t start;
    std::int64_t end;
    CallId call;
    std::size_t stream;
    bool collective;
  };
  std::vector<NewOp> ops;
  std::int64_t now = 0;
  int events = *rc::gen::inRange(1, 60);
  for (int i = 0; i < events; ++i) {
    now += *rc::gen::inRange(0, 30);
    auto thread = static_cast<std::size_t>(*rc::gen::inRange(0, 4));
    auto kind = static_cast<DeviceCallKind>(*rc::gen::inRange(0, 13));
    std::int64_t end = now + *rc::gen::inRange(0, 60);
    auto stream = static_cast<std::size_t>(*rc::gen::inRange(0, 2)) * 2 + thread % 2;
    bool named = *rc::gen::inRange(0, 2) != 0;
    auto id = static_cast<std::uint64_t>(*rc::gen::inRange(0, 4));
    CallId call = t.call(threads[thread], kind, now, end,
                         {.stream = named ? streams[stream] : StreamId{}, .sync_id = id});
    bool enqueues = kind == DeviceCallKind::kLaunch || kind == DeviceCallKind::kCopy ||
                    kind == DeviceCallKind::kCopyBlocking || kind == DeviceCallKind::kGraphLaunch;
    if (!enqueues) continue;
    std::int64_t start = now + *rc::gen::inRange(-5, 80);
    ops.push_back(
        {start, start + *rc::gen::inRange(0, 50), call, stream, *rc::gen::inRange(0, 4) == 0});
  }
  std::stable_sort(ops.begin(), ops.end(),
                   [](const NewOp& a, const NewOp& b) { return a.start < b.start; });
  std::int64_t sequence[2] = {0, 0};
  for (const NewOp& op : ops) {
    DeviceOpId id = t.op(streams[op.stream], op.call, op.start, op.end, "kernel",
                         op.collective ? DeviceOpKind::kCommunication : DeviceOpKind::kKernel);
    if (op.collective) t.collective(id, sequence[op.stream % 2]++);
  }
  return t.finish();
}

}  // namespace headway::test
