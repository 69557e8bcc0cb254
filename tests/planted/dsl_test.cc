// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "common/error.h"
#include "tests/planted/dsl/assemble.h"
#include "tests/planted/dsl/simulate.h"

namespace headway::planted {
namespace {

using trace::DeviceCallKind;
using trace::DeviceOpKind;

const std::string kHead = "plants: a test\nexpect: nothing\njitter 0%\n";

trace::Trace run(const std::string& text) {
  return make_trace(parse_case("test.txt", kHead + text));
}

std::string error_of(const std::string& text) {
  try {
    run(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("a kernel starts a latency after its launch and after the one before it") {
  trace::Trace t =
      run("device cuda gpu latency=6us gap=1us\n"
          "thread main start=1ms\n"
          "  launch first 100us call=4us\n"
          "  launch second 50us call=4us\n");
  REQUIRE(t.device_ops.size() == 2);
  CHECK(t.device_ops.start[0].ns == 1'006'000);
  CHECK(t.device_ops.end[0].ns == 1'106'000);
  CHECK(t.device_ops.start[1].ns == 1'107'000);
  CHECK(t.calls.start[1].ns == 1'004'000);
  CHECK(t.device_ops.call[1] == trace::CallId{1});
}

TEST_CASE("a stream waits for the event of another stream") {
  trace::Trace t =
      run("device cuda gpu latency=6us gap=1us\n"
          "thread main start=0ms\n"
          "  copy h2d 1MB time=500us stream=copy\n"
          "  record copied stream=copy\n"
          "  await copied stream=compute\n"
          "  launch kernel 10us\n");
  REQUIRE(t.device_ops.size() == 2);
  CHECK(t.device_ops.kind[0] == DeviceOpKind::kCopyHostToDevice);
  CHECK(t.device_ops.start[1].ns == t.device_ops.end[0].ns + 1'000);
  CHECK(t.calls.sync_id[1] == t.calls.sync_id[2]);
}

TEST_CASE("a host synchronisation ends when the device is done and the host has woken up") {
  trace::Trace t =
      run("device cuda gpu latency=6us\n"
          "thread main start=0ms\n"
          "  launch kernel 1ms call=4us\n"
          "  sync stream wake=10us\n");
  REQUIRE(t.calls.size() == 2);
  CHECK(t.calls.kind[1] == DeviceCallKind::kStreamSynchronize);
  CHECK(t.calls.end[1].ns == t.device_ops.end[0].ns + 10'000);
}

TEST_CASE("the trainer waits until its batch is ready, and workers run ahead only so far") {
  trace::Trace t =
      run("loader 1 prefetch=1 startup=0ms start=0ms handover=0ms\n"
          "  read 10ms bytes=1MB\n"
          "thread main start=0ms\n"
          "  steps 3\n"
          "    input call=0ms\n"
          "    host 30ms\n");
  std::vector<std::int64_t> waits;
  std::vector<std::int64_t> reads;
  for (std::uint32_t i = 0; i < t.ranges.size(); ++i) {
    const trace::RangeInfo* info = t.info(trace::RangeId{i});
    if (info->kind == trace::RangeKind::kInputWait)
      waits.push_back(t.ranges.interval(trace::RangeId{i}).length().ns);
    if (info->kind == trace::RangeKind::kRead) reads.push_back(t.ranges.start[i].ns);
  }
  // The first wait is for a read; later ones are hidden under the steps. Batch 1 begins when the
  // trainer has taken batch 0.
  CHECK(waits == std::vector<std::int64_t>{10'000'000, 0, 0});
  CHECK(reads == std::vector<std::int64_t>{0, 10'000'000, 40'000'000});
}

TEST_CASE("a collective ends for all ranks when the last has come and the data has moved") {
  Case c = parse_case("test.txt", kHead +
                                      "ranks 2\n"
                                      "device cuda gpu latency=0us gap=0us\n"
                                      "thread main start=0ms\n"
                                      "  on rank=1\n"
                                      "    host 5ms\n"
                                      "  collective allreduce 1MB 2ms\n"
                                      "  sync stream comm\n");
  trace::Trace all = make_trace(c);
  REQUIRE(all.device_ops.size() == 2);
  CHECK(all.device_ops.start[0].ns == 0);
  CHECK(all.device_ops.end[0].ns == 7'000'000);
  CHECK(all.device_ops.end[1].ns == 7'000'000);
  CHECK(all.collectives.size() == 2);
  CHECK(all.world_size == 2);
  std::vector<trace::Trace> ranks = make_rank_traces(c);
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[1].device_ops.size() == 1);
  CHECK(ranks[1].device_ops.start[0].ns == 5'000'000);
  CHECK(ranks[1].processes[0].rank == 1);
}

TEST_CASE("a full launch queue holds the host back") {
  trace::Trace t =
      run("device cuda gpu latency=0us gap=0us queue=2\n"
          "thread main start=0ms\n"
          "  repeat 4\n"
          "    launch kernel 1ms call=1us\n");
  REQUIRE(t.calls.size() == 4);
  CHECK(t.calls.end[1].ns == 2'000);
  CHECK(t.calls.end[2].ns == 1'000'000);
  CHECK(t.overheads.size() == 2);
  CHECK(t.overheads[0].kind == trace::Overhead::Kind::kQueueFull);
}

TEST_CASE("the same case gives the same trace, another seed another") {
  std::string text = kHead + "jitter 5%\nthread main\n  repeat 5\n    launch kernel 1ms\n";
  auto ends = [](const trace::Trace& t) { return t.device_ops.end; };
  auto first = ends(make_trace(parse_case("a", text)));
  CHECK(first == ends(make_trace(parse_case("a", text))));
  CHECK(first != ends(make_trace(parse_case("a", text + "seed 2\n"))));
}

TEST_CASE("conditions choose steps, and names show them") {
  trace::Trace t =
      run("thread main\n"
          "  steps 4 name=ProfilerStep#% named\n"
          "    host 1us\n"
          "    on step=1,3\n"
          "      launch kernel_% 1ms\n");
  CHECK(t.device_ops.size() == 2);
  CHECK(t.strings[t.ranges.name[0]] == "ProfilerStep#0");
  CHECK(t.range_info.empty());
}

TEST_CASE("ranges nest per thread, also on another thread of the same program") {
  trace::Trace t =
      run("thread main\n"
          "  range outer\n"
          "    as autograd\n"
          "      range inner domain=cpu_op sequence=4\n"
          "        launch kernel 1ms\n");
  REQUIRE(t.ranges.size() == 2);
  CHECK(t.ranges.depth[1] == 0);
  CHECK(t.threads.size() == 2);
  CHECK(t.info(trace::RangeId{1})->sequence == 4);
  CHECK(t.domains[t.ranges.domain[1].value] == "cpu_op");
}

TEST_CASE("errors name file, line and what was expected") {
  CHECK(error_of("thread main\n  lunch k 1ms\n") ==
        "test.txt:5: 'lunch' is no statement; tests/planted/README.md lists them");
  CHECK(error_of("thread main\n  launch k 1parsec\n") ==
        "test.txt:5: '1parsec' is no duration; expected a number with ns, us, ms or s");
  CHECK(error_of("thread main\n  launch k 1ms colour=red\n").find("does not know 'colour'") !=
        std::string::npos);
  CHECK(error_of("thread main\n  host 1ms\n    host 1ms\n").find("which has no body") !=
        std::string::npos);
  CHECK(error_of("thread main\n  input\n") == "test.txt:5: 'input' needs a 'loader'");
  CHECK(error_of("thread main\n  await never\n  launch k 1ms\n").find("test.txt:5: waits for") ==
        0);
  CHECK(error_of("thread main\n  use nothing\n") == "test.txt:5: nothing is defined as 'nothing'");
}

}  // namespace
}  // namespace headway::planted
