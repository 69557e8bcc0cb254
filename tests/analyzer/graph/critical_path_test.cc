// SPDX-License-Identifier: MIT
// Hand-made recordings whose critical path is known, one for each kind of edge.
#include "analyzer/graph/critical_path.h"

#include <doctest/doctest.h>

#include "analyzer/graph/loaders.h"
#include "tests/analyzer/graph/graph_trace.h"

namespace headway::analyzer {
namespace {

using namespace trace;
using test::GraphTrace;
using test::path_of;
using test::words;

const EdgeCount& edges(const CriticalPath& path, EdgeKind kind) {
  return path.edges[static_cast<std::size_t>(kind)];
}

/// Time on the path of one kind.
std::int64_t ns(const CriticalPath& path, PathKind kind) {
  return path[kind].ns;
}

}  // namespace

TEST_CASE("kernels that were launched long before follow each other: the device is the path") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  CallId a = t.launch(host, 0, 1'000);
  CallId b = t.launch(host, 2'000, 3'000);
  t.op(s, a, 5'000, 105'000, "a");
  t.op(s, b, 106'000, 206'000, "b");
  const Trace& trace = t.finish();
  CriticalPath path = path_of(trace);
  CHECK(words(trace, path) == "compute:a device_gap:b compute:b");
  CHECK(ns(path, PathKind::kCompute) == 200'000);
  CHECK(ns(path, PathKind::kDeviceGap) == 1'000);
  CHECK(path.slack_ns == std::vector<std::uint32_t>{0, 0});
}

TEST_CASE(
    "short kernels that the host launches too slowly: the host and the launches are the path") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  CallId a = t.launch(host, 0, 4'000);
  t.op(s, a, 5'000, 7'000, "a");
  t.range(host, "layer", 3'000, 200'000);
  CallId b = t.launch(host, 100'000, 104'000);
  t.op(s, b, 105'000, 107'000, "b");
  const Trace& trace = t.finish();
  CriticalPath path = path_of(trace);
  // The device's window begins with kernel a, inside of the host's work.
  CHECK(words(trace, path) == "host:layer launch:b compute:b");
  CHECK(ns(path, PathKind::kHost) == 95'000);
  CHECK(ns(path, PathKind::kLaunch) == 5'000);
  CHECK(path.slack_ns[0] == 107'000 - 7'000 - 2'000 - 1'300);  // ε of b, then b itself
}

TEST_CASE("a host that is always as far ahead does not show how long a launch takes") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  // Half a second ahead, of ops that begin 10 us after one another.
  constexpr std::int64_t kAhead = 500'000'000;
  for (std::int64_t i = 0; i < 60; ++i) {
    const CallId call = t.launch(host, 2'000 * i, 2'000 * i + 1'000);
    t.op(s, call, kAhead + 110'000 * i, kAhead + 110'000 * i + 100'000, "k");
  }
  const Calibration calibrated = calibrate_device_delays(t.finish(), {});
  CHECK(calibrated.devices.front().launch.samples == 0);
  CHECK(calibrated.devices.front().launch.p50 < DurationNs{100'000});
}

TEST_CASE("a stream that waits for an event waits for the op before it") {
  for (bool with_ids : {true, false}) {
    GraphTrace t;
    ProcessId p = t.process();
    ThreadId host = t.thread(p);
    StreamId compute = t.stream(p);
    StreamId copy = t.stream(p);
    CallId load = t.launch(host, 0, 1'000);
    t.call(host, DeviceCallKind::kEventRecord, 1'500, 1'800,
           {.stream = with_ids ? copy : StreamId{}, .sync_id = with_ids ? 7u : 0u});
    t.call(host, DeviceCallKind::kStreamWaitEvent, 2'000, 2'500,
           {.stream = with_ids ? compute : StreamId{}, .sync_id = with_ids ? 7u : 0u});
    CallId use = t.launch(host, 3'000, 4'000);
    t.op(copy, load, 5'000, 55'000, "load", DeviceOpKind::kCopyHostToDevice);
    t.op(compute, use, 56'000, 60'000, "use");
    const Trace& trace = t.finish();
    CriticalPath path = path_of(trace);
    CHECK(words(trace, path) == "copy:load device_gap:use compute:use");
    CHECK(edges(path, EdgeKind::kEventWait).edges == 1);
    CHECK(edges(path, EdgeKind::kEventWait).inferred == (with_ids ? 0 : 1));
    CHECK(path.inferred.ns == (with_ids ? 0 : 51'000));  // the delay, and the copy it leads to
  }
}

TEST_CASE("a reused event means its latest record") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId compute = t.stream(p);
  StreamId copy = t.stream(p);
  CallId one = t.launch(host, 0, 1'000);
  t.call(host, DeviceCallKind::kEventRecord, 1'100, 1'200, {.stream = copy, .sync_id = 7});
  CallId two = t.launch(host, 2'000, 3'000);
  t.call(host, DeviceCallKind::kEventRecord, 3'100, 3'200, {.stream = copy, .sync_id = 8});
  t.call(host, DeviceCallKind::kStreamWaitEvent, 3'300, 3'400, {.stream = compute, .sync_id = 7});
  CallId use = t.launch(host, 3'500, 4'000);
  t.op(copy, one, 5'000, 15'000, "one", DeviceOpKind::kCopyHostToDevice);
  t.op(copy, two, 16'000, 90'000, "two", DeviceOpKind::kCopyHostToDevice);
  t.op(compute, use, 16'100, 95'000, "use");
  const Trace& trace = t.finish();
  CHECK(words(trace, path_of(trace)) == "copy:one device_gap:use compute:use");
}

TEST_CASE("a synchronisation returns after the stream's last op, and what follows waits for it") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  StreamId other = t.stream(p);
  CallId a = t.launch(host, 0, 1'000);
  CallId x = t.launch(host, 1'500, 1'600);
  t.call(host, DeviceCallKind::kStreamSynchronize, 2'000, 60'000, {.stream = s, .name = "sync"});
  CallId b = t.launch(host, 61'000, 62'000);
  t.op(s, a, 5'000, 55'000, "a");
  t.op(other, x, 5'000, 30'000, "x");
  t.op(s, b, 66'000, 70'000, "b");
  const Trace& trace = t.finish();
  CriticalPath path = path_of(trace);
  CHECK(words(trace, path) == "compute:a sync:sync host:- launch:b compute:b");
  CHECK(ns(path, PathKind::kSync) == 5'000);
  CHECK(edges(path, EdgeKind::kHostSync).edges == 1);
  CHECK(edges(path, EdgeKind::kHostSync).inferred == 0);
  CHECK(path.inferred.ns == 0);
}

TEST_CASE("a synchronisation waits for ops that were launched before the recording began") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  t.call(host, DeviceCallKind::kStreamSynchronize, 2'000, 60'000, {.stream = s, .name = "sync"});
  CallId b = t.launch(host, 61'000, 62'000);
  t.op(s, {}, 5'000, 30'000, "a");
  t.op(s, {}, 31'000, 55'000, "a");
  t.op(s, b, 66'000, 70'000, "b");
  const Trace& trace = t.finish();
  CHECK(words(trace, path_of(trace)) ==
        "compute:a device_gap:a compute:a sync:sync host:- launch:b compute:b");
}

TEST_CASE(
    "a synchronisation at whose end the recording is cut off tells nothing of what such calls take "
    "themselves") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  CallId a = t.launch(host, 0, 1'000);
  CallId waits = t.call(host, DeviceCallKind::kStreamSynchronize, 2'000, 60'000,
                        {.stream = s, .name = "sync"});
  CallId b = t.launch(host, 61'000, 62'000);
  CallId ready = t.call(host, DeviceCallKind::kStreamSynchronize, 71'000, 73'000,
                        {.stream = s, .name = "sync"});
  CallId c = t.launch(host, 74'000, 75'000);
  // The op that it waits for begins after the cut.
  t.call(host, DeviceCallKind::kStreamSynchronize, 90'000, 150'000, {.stream = s, .name = "sync"});
  t.op(s, a, 5'000, 55'000, "a");
  t.op(s, b, 66'000, 70'000, "b");
  t.op(s, c, 80'000, 85'000, "c");
  DependencyGraph graph(t.finish());
  CHECK(graph.base(graph.points().task(ready)).ns == 2'000);
  CHECK(graph.base(graph.points().task(waits)).ns == 2'000);
}

TEST_CASE("a synchronisation that names a stream on the wrong device means its namesake") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  StreamId namesake = t.stream(p, s);
  CallId a = t.launch(host, 0, 1'000);
  t.call(host, DeviceCallKind::kStreamSynchronize, 2'000, 60'000,
         {.stream = namesake, .name = "sync"});
  CallId b = t.launch(host, 61'000, 62'000);
  t.op(s, a, 5'000, 55'000, "a");
  t.op(s, b, 66'000, 70'000, "b");
  const Trace& trace = t.finish();
  CHECK(words(trace, path_of(trace)) == "compute:a sync:sync host:- launch:b compute:b");
}

TEST_CASE("a synchronisation that seems to return some microseconds early still waited") {
  for (std::int64_t early : {5'000, 500'000}) {
    GraphTrace t;
    ProcessId p = t.process();
    ThreadId host = t.thread(p);
    StreamId s = t.stream(p);
    CallId a = t.launch(host, 0, 1'000);
    CallId copy = t.launch(host, 1'100, 1'900);
    t.call(host, DeviceCallKind::kStreamSynchronize, 2'000, 600'000, {.stream = s, .name = "sync"});
    CallId b = t.launch(host, 601'000, 602'000);
    t.op(s, a, 5'000, 599'000, "a");
    t.op(s, copy, 600'500, 600'000 + early, "copy", DeviceOpKind::kCopyDeviceToHost);
    t.op(s, b, 1'200'000, 1'300'000, "b");
    CriticalPath path = path_of(t.finish());
    bool clocks = early == 5'000;
    CHECK(edges(path, EdgeKind::kHostSync).inferred == (clocks ? 1 : 0));
    CHECK(edges(path, EdgeKind::kHostSync).contradicted == (clocks ? 0 : 1));
  }
}

TEST_CASE("a device synchronisation waits for every stream of its process, of others for none") {
  GraphTrace t;
  ProcessId p = t.process();
  ProcessId q = t.process(1);
  ThreadId host = t.thread(p);
  ThreadId host_q = t.thread(q);
  StreamId s1 = t.stream(p);
  StreamId s2 = t.stream(p);
  StreamId foreign = t.stream(q);
  CallId a = t.launch(host, 0, 1'000);
  CallId f = t.launch(host_q, 500, 600);
  CallId b = t.launch(host, 1'100, 2'000);
  t.call(host, DeviceCallKind::kDeviceSynchronize, 2'100, 82'000, {.name = "sync"});
  CallId c = t.launch(host, 83'000, 84'000);
  t.op(s1, a, 5'000, 40'000, "a");
  t.op(foreign, f, 5'000, 81'000, "f");
  t.op(s2, b, 6'000, 80'000, "b");
  t.op(s1, c, 88'000, 90'000, "c");
  const Trace& trace = t.finish();
  CriticalPath path = path_of(trace);
  CHECK(edges(path, EdgeKind::kHostSync).edges == 2);
  CHECK(words(trace, path).ends_with("compute:b sync:sync host:- launch:c compute:c"));
}

TEST_CASE("an event synchronisation waits for the recorded op, not for what came later") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  CallId a = t.launch(host, 0, 1'000);
  t.call(host, DeviceCallKind::kEventRecord, 1'100, 1'200, {.stream = s, .sync_id = 3});
  CallId b = t.launch(host, 1'300, 2'000);
  t.call(host, DeviceCallKind::kEventSynchronize, 2'100, 42'000, {.sync_id = 3, .name = "sync"});
  CallId c = t.launch(host, 43'000, 44'000);
  t.op(s, a, 5'000, 40'000, "a");
  t.op(s, b, 41'000, 45'000, "b");
  t.op(s, c, 48'000, 90'000, "c");
  const Trace& trace = t.finish();
  CHECK(words(trace, path_of(trace)) == "compute:a sync:sync host:- launch:c compute:c");
}

TEST_CASE("copies that block, cudaFree and syncs without a stream wait for what ended meanwhile") {
  for (DeviceCallKind kind : {DeviceCallKind::kCopyBlocking, DeviceCallKind::kCopy,
                              DeviceCallKind::kFree, DeviceCallKind::kStreamSynchronize}) {
    GraphTrace t;
    ProcessId p = t.process();
    ThreadId host = t.thread(p);
    StreamId s = t.stream(p);
    bool copies = kind == DeviceCallKind::kCopyBlocking || kind == DeviceCallKind::kCopy;
    CallId a = copies ? CallId{} : t.launch(host, 0, 1'000);
    CallId wait = t.call(host, kind, 2'000, 60'000, {.name = "wait"});
    CallId b = t.launch(host, 61'000, 62'000);
    t.op(s, copies ? wait : a, 5'000, 55'000, "a",
         copies ? DeviceOpKind::kCopyDeviceToHost : DeviceOpKind::kKernel);
    t.op(s, b, 66'000, 70'000, "b");
    const Trace& trace = t.finish();
    CriticalPath path = path_of(trace);
    CHECK(edges(path, EdgeKind::kHostSync).inferred ==
          (kind == DeviceCallKind::kCopyBlocking ? 0 : 1));
    CHECK(words(trace, path) == (copies ? "copy:a sync:wait host:- launch:b compute:b"
                                        : "compute:a sync:wait host:- launch:b compute:b"));
  }
}

TEST_CASE("a launch into a full queue returns when an op has started") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  std::vector<CallId> calls;
  // 1024 launches fill the queue; the next one returns when the second kernel starts.
  for (std::int64_t i = 0; i < 1025; ++i) calls.push_back(t.launch(host, i * 100, i * 100 + 50));
  calls.push_back(t.launch(host, 102'500, 205'500));
  std::int64_t start = 5'000;
  for (CallId call : calls) {
    t.op(s, call, start, start + 200'000 - 100);
    start += 200'000;
  }
  CriticalPath path = path_of(t.finish());
  CHECK(edges(path, EdgeKind::kQueueFull).edges == 1);
  CHECK(edges(path, EdgeKind::kQueueFull).inferred == 1);
  CHECK(ns(path, PathKind::kCompute) + ns(path, PathKind::kDeviceGap) == path.window.length().ns);
}

TEST_CASE(
    "launches into a full queue are told by the ends of its ops where events take places, too") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  // Of 1024 places 24 are taken by events: launch 1000 and those after it return when an op ends.
  constexpr std::int64_t kRoom = 1000;
  for (std::int64_t i = 0; i < kRoom + 5; ++i) {
    const std::int64_t begin = i * 1'000'000;  // of its op
    const std::int64_t freed = (i - kRoom) * 1'000'000 + 999'000;
    const std::int64_t start = i < kRoom ? i * 10 - 20'000 : freed - 900'000;
    t.op(s, t.launch(host, start, i < kRoom ? start + 5 : freed), begin, begin + 999'000);
  }
  CHECK(edges(path_of(t.finish()), EdgeKind::kQueueFull).edges == 5);
}

TEST_CASE("a launch into a full queue returns when what the stream waits for elsewhere is done") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  StreamId other = t.stream(p);
  // A wait is at the head of the queue: nothing of this stream starts or ends while the last launch blocks.
  const CallId sum = t.launch(host, 0, 50);
  t.op(other, sum, 4'000, 900'000);
  t.op(s, t.launch(host, 100, 150), 4'000, 5'000);
  t.call(host, DeviceCallKind::kEventRecord, 160, 190, {.stream = other, .sync_id = 1});
  t.call(host, DeviceCallKind::kStreamWaitEvent, 200, 250, {.stream = s, .sync_id = 1});
  std::int64_t start = 902'000;
  for (std::int64_t i = 0; i < 1025; ++i) {
    const std::int64_t at = 300 + i * 100;
    t.op(s, t.launch(host, at, i < 1024 ? at + 50 : 901'000), start, start + 1'000);
    start += 1'100;
  }
  CHECK(edges(path_of(t.finish()), EdgeKind::kQueueFull).edges == 1);
}

TEST_CASE("the legacy default stream shows by waiting both ways and never running beside others") {
  for (bool alone : {true, false}) {
    GraphTrace t;
    ProcessId p = t.process();
    ThreadId host = t.thread(p);
    StreamId null_stream = t.stream(p);
    StreamId side = t.stream(p);
    std::vector<std::pair<StreamId, CallId>> launches;
    for (std::int64_t i = 0; i < 12; ++i)
      launches.emplace_back(i % 2 ? side : null_stream, t.launch(host, i * 1'000, i * 1'000 + 500));
    std::int64_t start = 15'000;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      // Beside others: the last op begins before the one it would have to wait for ends.
      if (!alone && i + 1 == launches.size()) start -= 2'000;
      t.op(launches[i].first, launches[i].second, start, start + 50'000);
      start += 51'000;
    }
    CriticalPath path = path_of(t.finish());
    CHECK(edges(path, EdgeKind::kDefaultStream).edges == (alone ? 11 : 0));
    CHECK(edges(path, EdgeKind::kEventWait).edges == (alone ? 0 : 10));
    CHECK(edges(path, EdgeKind::kEventWait).edges == edges(path, EdgeKind::kEventWait).inferred);
  }
}

TEST_CASE("the ops of a CUDA graph wait for its one launch") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  StreamId side = t.stream(p);
  CallId graph = t.call(host, DeviceCallKind::kGraphLaunch, 0, 3'000, {.name = "cudaGraphLaunch"});
  CallId again = t.call(host, DeviceCallKind::kGraphLaunch, 90'000, 93'000, {});
  t.op(s, graph, 5'000, 15'000, "a");
  t.op(side, graph, 5'500, 9'000, "x");
  t.op(s, graph, 16'000, 26'000, "b");
  t.op(s, again, 95'000, 105'000, "a2");
  const Trace& trace = t.finish();
  CriticalPath path = path_of(trace);
  CHECK(edges(path, EdgeKind::kGraphLaunch).edges == 3);
  CHECK(edges(path, EdgeKind::kLaunch).edges == 0);
  CHECK(words(trace, path) == "host:- launch:a2 compute:a2");
}

TEST_CASE("of overlapping calls of two threads the slow one waited for the lock") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId one = t.thread(p);
  ThreadId two = t.thread(p);
  StreamId s = t.stream(p);
  StreamId s2 = t.stream(p);
  for (std::int64_t i = 0; i < 9; ++i) t.launch(two, i * 2'000, i * 2'000 + 1'000);
  CallId slow = t.call(one, DeviceCallKind::kAllocate, 20'000, 60'000, {.name = "cudaMalloc"});
  CallId waits = t.launch(two, 25'000, 61'000);
  CallId next = t.launch(two, 62'000, 63'000);
  t.op(s, waits, 62'000, 63'000, "waits");
  t.op(s2, next, 66'000, 80'000, "next");
  CHECK(slow.valid());
  const Trace& trace = t.finish();
  CriticalPath path = path_of(trace);
  CHECK(edges(path, EdgeKind::kDriverLock).edges == 1);
  CHECK(edges(path, EdgeKind::kDriverLock).inferred == 1);
}

TEST_CASE("the wait for a batch ends with its making: the worker is on the path") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  ThreadId loader = t.thread(p, "loader");
  StreamId s = t.stream(p);
  CallId first = t.launch(host, 0, 1'000);
  t.range(loader, "batch 0", 2'000, 95'000, {.kind = RangeKind::kBatch, .batch = 0});
  t.range(loader, "read", 2'500, 40'000, {.kind = RangeKind::kRead, .batch = 0});
  t.range(host, "wait", 3'000, 100'000, {.kind = RangeKind::kInputWait, .batch = 0});
  t.range(loader, "decode", 40'000, 95'000, {.kind = RangeKind::kDecode, .batch = 0});
  CallId next = t.launch(host, 101'000, 102'000);
  t.op(s, first, 5'000, 9'000, "first");
  t.op(s, next, 106'000, 110'000, "next");
  const Trace& trace = t.finish();
  CriticalPath path = path_of(trace);
  CHECK(words(trace, path) == "input:read input:decode input:wait host:- launch:next compute:next");
  CHECK(edges(path, EdgeKind::kBatch).edges == 1);
  CHECK(ns(path, PathKind::kInput) == 95'000);
}

TEST_CASE("taking a batch that was made before takes the thread's time: no wait ends sooner") {
  // A worker that is far ahead; each batch is received and mapped for 900 µs.
  auto hand_over = [](std::int64_t batches, std::int64_t takes) {
    GraphTrace t;
    ProcessId p = t.process();
    ThreadId host = t.thread(p);
    ThreadId loader = t.thread(p, "loader");
    for (std::int64_t n = 0; n < batches; ++n)
      t.range(loader, "batch", n * 10, n * 10 + 9, {.kind = RangeKind::kBatch, .batch = n});
    for (std::int64_t n = 0; n < batches; ++n) {
      const std::int64_t start = 1'000'000 * (n + 1);
      t.range(host, "wait", start, start + takes, {.kind = RangeKind::kInputWait, .batch = n});
    }
    return DependencyGraph(t.finish(), MachineFacts()).calibration().batch;
  };
  CHECK(hand_over(40, 900'000).p50.ns == 900'000);
  CHECK(hand_over(40, 900'000).origin == FactOrigin::kRecording);
  CHECK(hand_over(10, 900'000).p50.ns == 20'000);  // too few to tell
  CHECK(hand_over(40, 500).p50.ns == 20'000);      // a thread that has to wait wakes no faster
}

TEST_CASE("a batch that arrives in time is received only, whatever one takes that is waited for") {
  // A worker that is too slow: each batch arrives 1.5 ms after it was made. Of those that were there `ready` took 0.4 ms.
  auto base_of_wait = [](std::int64_t ready, std::optional<DurationNs> assumed) {
    GraphTrace t;
    ProcessId p = t.process();
    ThreadId host = t.thread(p);
    ThreadId loader = t.thread(p, "loader");
    constexpr std::int64_t kWaited = 40;
    for (std::int64_t n = 0; n < kWaited + ready; ++n) {
      const std::int64_t made = 10'000'000 * (n + 1);
      const std::int64_t asked = made + (n < kWaited ? -2'000'000 : 3'000'000);
      t.range(loader, "batch", made - 6'000'000, made, {.kind = RangeKind::kBatch, .batch = n});
      t.range(host, "wait", asked, n < kWaited ? made + 1'500'000 : asked + 400'000,
              {.kind = RangeKind::kInputWait, .batch = n});
    }
    const DependencyGraph graph(t.finish(), MachineFacts(), assumed);
    return graph.base(find_loaders(graph.points()).front().waited.front().task).ns;
  };
  CHECK(base_of_wait(0, {}) == 1'500'000);
  CHECK(base_of_wait(0, DurationNs{600'000}) == 600'000);
  CHECK(base_of_wait(0, DurationNs{9'000'000}) == 1'500'000);
  CHECK(base_of_wait(40, DurationNs{600'000}) == 400'000);
}

TEST_CASE("a PyTorch loader runs as far ahead as it was told, though its worker never did") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  ThreadId loader = t.thread(p, "loader");
  for (std::int64_t n = 0; n < 10; ++n) {
    const std::int64_t made = 10'000 * (n + 1);
    t.range(loader, "batch", made - 9'000, made, {.kind = RangeKind::kBatch, .batch = n});
    t.range(host, "wait", made - 5'000, made + 100, {.kind = RangeKind::kInputWait, .batch = n});
  }
  Trace trace = t.finish();
  CHECK(find_loaders(DependencyGraph(trace).points()).front().depth == 1);
  trace.settings.emplace_back("DataLoader", "num_workers=1 batch_size=4 prefetch_factor=4");
  CHECK(find_loaders(DependencyGraph(trace).points()).front().depth == 4);
}

TEST_CASE("a loader that waits for room begins when a batch was taken") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  ThreadId loader = t.thread(p, "loader");
  auto batch = [&](std::int64_t n, std::int64_t start, std::int64_t end) {
    t.range(loader, "batch", start, end, {.kind = RangeKind::kBatch, .batch = n});
  };
  auto wait = [&](std::int64_t n, std::int64_t start, std::int64_t end) {
    t.range(host, "wait", start, end, {.kind = RangeKind::kInputWait, .batch = n});
  };
  batch(0, 0, 10);
  batch(1, 10, 20);  // two batches fit
  wait(0, 90, 100);
  batch(2, 101, 111);
  wait(1, 190, 200);
  batch(3, 201, 211);
  CriticalPath path = path_of(t.finish());
  CHECK(edges(path, EdgeKind::kBatchSlot).edges == 2);
  CHECK(edges(path, EdgeKind::kBatch).edges == 2);
}

TEST_CASE("a worker that begins while the wait still returns had waited for room, too") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  ThreadId loader = t.thread(p, "loader");
  // One batch fits. The worker is faster than the thread that wakes it in half of the cases.
  for (std::int64_t n = 0; n < 4; ++n) {
    const std::int64_t start = n == 0 ? 0 : n * 100 + (n % 2 == 0 ? 2 : 11);
    t.range(loader, "batch", start, start + 30, {.kind = RangeKind::kBatch, .batch = n});
    t.range(host, "wait", n * 100 + 100, n * 100 + 110,
            {.kind = RangeKind::kInputWait, .batch = n});
  }
  CriticalPath path = path_of(t.finish());
  CHECK(edges(path, EdgeKind::kBatchSlot).edges == 3);
  CHECK(edges(path, EdgeKind::kBatch).edges == 4);
}

TEST_CASE(
    "a batch that is made at the instant at which the wait for it ends is what was waited for") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  ThreadId loader = t.thread(p, "loader");
  t.range(loader, "batch", 0, 100, {.kind = RangeKind::kBatch, .batch = 0});
  t.range(host, "wait", 10, 100, {.kind = RangeKind::kInputWait, .batch = 0});
  CHECK(edges(path_of(t.finish()), EdgeKind::kBatch).edges == 1);
}

TEST_CASE("autograd's thread is on the path while the thread that asked for the backward sleeps") {
  for (bool with_numbers : {true, false}) {
    GraphTrace t;
    ProcessId p = t.process();
    ThreadId host = t.thread(p);
    ThreadId autograd = t.thread(p, with_numbers ? "helper" : "pt_autograd_0");
    StreamId s = t.stream(p);
    std::int64_t number = with_numbers ? 5 : conventions::kAbsent;
    t.range(host, "forward op", 0, 2'000, {.sequence = number});
    t.range(autograd, "backward op", 10'000, 95'000, {.sequence = number});
    std::vector<CallId> calls = {t.launch(host, 500, 1'500)};
    for (std::int64_t i = 0; i < 4; ++i)
      calls.push_back(t.launch(autograd, 10'000 + i * 20'000, 11'000 + i * 20'000));
    calls.push_back(t.launch(host, 100'000, 101'000));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      TimeNs launched{static_cast<std::int64_t>(i == 0   ? 500
                                                : i == 5 ? 100'000
                                                         : i * 20'000 - 10'000)};
      t.op(s, calls[i], launched.ns + 5'000, launched.ns + 6'000, "kernel");
    }
    const Trace& trace = t.finish();
    CriticalPath path = path_of(trace);
    CHECK(edges(path, EdgeKind::kHandOver).edges == 2);
    CHECK(edges(path, EdgeKind::kHandOver).inferred == (with_numbers ? 0 : 2));
    CHECK(edges(path, EdgeKind::kThreadBlocked).edges == 1);
    CHECK(words(trace, path).find("host:backward op") != std::string::npos);
    CHECK(words(trace, path).ends_with("launch:kernel compute:kernel"));
  }
}

TEST_CASE("a collective waits for the last rank: that rank's work is on the path") {
  for (bool with_sequence : {true, false}) {
    GraphTrace t;
    ProcessId ranks[] = {t.process(0), t.process(1)};
    ThreadId hosts[] = {t.thread(ranks[0]), t.thread(ranks[1])};
    StreamId streams[] = {t.stream(ranks[0]), t.stream(ranks[1])};
    CallId compute0 = t.launch(hosts[0], 0, 900);
    CallId compute1 = t.launch(hosts[1], 0, 900);
    CallId reduce0 = t.launch(hosts[0], 1'000, 1'900);
    CallId reduce1 = t.launch(hosts[1], 1'000, 1'900);
    t.op(streams[0], compute0, 5'000, 20'000, "fast");
    t.op(streams[1], compute1, 5'000, 80'000, "slow");
    DeviceOpId early =
        t.op(streams[0], reduce0, 21'000, 95'000, "reduce", DeviceOpKind::kCommunication);
    DeviceOpId late =
        t.op(streams[1], reduce1, 81'000, 95'000, "reduce", DeviceOpKind::kCommunication);
    t.collective(early, with_sequence ? 1 : -1);
    t.collective(late, with_sequence ? 1 : -1);
    const Trace& trace = t.finish();
    CriticalPath path = path_of(trace);
    CHECK(words(trace, path) == "compute:slow device_gap:reduce communication:reduce");
    CHECK(ns(path, PathKind::kCommunication) == 14'000);
    CHECK(edges(path, EdgeKind::kTransfer).edges == 2);
    CHECK(edges(path, EdgeKind::kTransfer).inferred == (with_sequence ? 0 : 2));
  }
}

TEST_CASE("collectives whose times contradict each other are left out and counted") {
  GraphTrace t;
  ProcessId ranks[] = {t.process(0), t.process(1)};
  StreamId streams[] = {t.stream(ranks[0]), t.stream(ranks[1])};
  DeviceOpId a = t.op(streams[0], {}, 0, 10'000, "reduce", DeviceOpKind::kCommunication);
  DeviceOpId b = t.op(streams[1], {}, 50'000, 60'000, "reduce", DeviceOpKind::kCommunication);
  t.collective(a, 1);
  t.collective(b, 1);
  CriticalPath path = path_of(t.finish());
  CHECK(edges(path, EdgeKind::kTransfer).edges == 0);
  CHECK(edges(path, EdgeKind::kTransfer).contradicted == 1);
}

TEST_CASE("collectives of a communicator keep their order across streams") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId one = t.stream(p);
  StreamId two = t.stream(p);
  CallId a = t.launch(host, 0, 900);
  CallId b = t.launch(host, 1'000, 1'900);
  DeviceOpId first = t.op(one, a, 5'000, 50'000, "first", DeviceOpKind::kCommunication);
  DeviceOpId second = t.op(two, b, 51'000, 60'000, "second", DeviceOpKind::kCommunication);
  t.collective(first, 1);
  t.collective(second, 2);
  const Trace& trace = t.finish();
  CriticalPath path = path_of(trace);
  CHECK(edges(path, EdgeKind::kCollectiveOrder).edges == 1);
  CHECK(words(trace, path) == "communication:first device_gap:second communication:second");
}

TEST_CASE("a kernel before its launch contradicts the recording, the edge is counted, not used") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  CallId a = t.launch(host, 10'000, 11'000);
  t.op(s, a, 9'000, 20'000, "early");
  CriticalPath path = path_of(t.finish());
  CHECK(edges(path, EdgeKind::kLaunch).contradicted == 1);
  CHECK(edges(path, EdgeKind::kLaunch).edges == 0);
  CHECK(ns(path, PathKind::kCompute) == 11'000);
}

TEST_CASE("calls inside of calls: the inner one's time is not counted twice") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  CallId first = t.launch(host, 0, 1'000);
  t.call(host, DeviceCallKind::kAllocate, 10'000, 40'000, {.name = "cudaMalloc"});
  t.call(host, DeviceCallKind::kOther, 15'000, 35'000, {.name = "cuMemAlloc"});
  CallId next = t.launch(host, 41'000, 42'000);
  t.op(s, first, 5'000, 6'000, "first");
  t.op(s, next, 46'000, 47'000, "next");
  const Trace& trace = t.finish();
  CriticalPath path = path_of(trace);
  CHECK(words(trace, path) ==
        "host:- allocator:cudaMalloc host:cuMemAlloc allocator:cudaMalloc host:- launch:next "
        "compute:next");
  CHECK(ns(path, PathKind::kAllocator) == 10'000);
}

TEST_CASE("without a device the training thread is the path, cut by its innermost ranges") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  t.range(host, "step", 0, 1'000);
  t.range(host, "forward", 100, 600);
  t.range(host, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 700, 900);
  const Trace& trace = t.finish();
  CriticalPath path = path_of(trace);
  CHECK(ns(path, PathKind::kHost) == 800);
  CHECK(ns(path, PathKind::kInput) == 200);
  CHECK(words(trace, path).starts_with("host:step host:forward host:step input:"));
}

TEST_CASE("a wait for what was recorded before says nothing of what such a call costs") {
  GraphTrace t;
  ProcessId p = t.process();
  ThreadId host = t.thread(p);
  StreamId s = t.stream(p);
  CallId a = t.launch(host, 0, 1'000);
  t.call(host, DeviceCallKind::kEventRecord, 1'100, 1'200, {.stream = s, .sync_id = 3});
  t.op(s, a, 5'000, 40'000, "a");
  const CallId known = t.call(host, DeviceCallKind::kEventSynchronize, 2'100, 42'000,
                              {.sync_id = 3, .name = "sync"});
  const CallId earlier = t.call(host, DeviceCallKind::kEventSynchronize, 43'000, 9'043'000,
                                {.sync_id = 99, .name = "sync"});
  const Trace& trace = t.finish();
  const DependencyGraph graph(trace, {});
  CHECK(graph.base(graph.points().task(known)) == DurationNs{5'000});
  CHECK(graph.base(graph.points().task(earlier)) == DurationNs{9'000'000});
}

}  // namespace headway::analyzer
