// SPDX-License-Identifier: MIT
#include "trace/export/export.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/error.h"
#include "tests/support/recordings.h"
#include "tests/support/training_trace.h"
#include "tests/trace/nsys_sample.h"
#include "trace/json_text.h"
#include "trace/load/load.h"
#include "trace/meta_keys.h"

namespace headway::trace {
namespace {

const std::string kHostile =
    "\"};alert(1)//</script><img src=x>\x1b]0;t\x07\\'\n,=1+1|; DROP "
    "TABLE StringIds;--../../etc/passwd\xff\xc0";

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

nlohmann::json exported(const Trace& trace) {
  test::TemporaryFolder folder;
  export_chrome_json(trace, folder / "trace.json");
  return nlohmann::json::parse(read_file(folder / "trace.json"));
}

std::vector<nlohmann::json> of_category(const nlohmann::json& json, std::string_view category,
                                        std::string_view phase = "X") {
  std::vector<nlohmann::json> found;
  for (const auto& event : json["traceEvents"]) {
    if (event.value("cat", "") == category && event["ph"] == phase) found.push_back(event);
  }
  return found;
}

/// Loads what the Chrome export wrote of `trace`.
Trace exported_and_loaded(const Trace& trace) {
  test::TemporaryFolder folder;
  export_chrome_json(trace, folder / "trace.json");
  return load(folder / "trace.json");
}

/// The contents of a trace as sorted lines without ids: the order of threads and streams is that of
/// first sight in the file, and numbers of threads that have none are made up.
class Contents {
 public:
  /// Times count from the first event where the other side is JSON.
  explicit Contents(const Trace& trace) : trace_(trace) {
    zero_ = INT64_MAX;
    for (const auto* starts : {&trace.ranges.start, &trace.calls.start, &trace.device_ops.start}) {
      if (!starts->empty()) zero_ = std::min(zero_, starts->front().ns);
    }
  }

  std::vector<std::string> device_ops() const {
    const DeviceOps& ops = trace_.device_ops;
    return lines(ops.size(), [&](std::size_t i) {
      return fmt::format("{} kind {} flops {} {} -> {} launched by {}", work(i),
                         static_cast<int>(ops.kind[i]), ops.flops[i],
                         static_cast<int>(ops.source_memory[i]),
                         static_cast<int>(ops.destination_memory[i]), call(ops.call[i]));
    });
  }

  /// What JSON can say of device work from anywhere: copies have other names there, calls lose the
  /// version in theirs, communication is a kernel.
  std::vector<std::string> device_work() const {
    const DeviceOps& ops = trace_.device_ops;
    return lines(ops.size(), [&](std::size_t i) {
      CallId by = ops.call[i];
      bool copy =
          ops.kind[i] != DeviceOpKind::kKernel && ops.kind[i] != DeviceOpKind::kCommunication;
      return fmt::format("{} {}{} {}",
                         by.valid() ? time(trace_.calls.start[by.value]) : "unlaunched",
                         copy ? "kind " : "", copy ? static_cast<int>(ops.kind[i]) : 0,
                         copy ? work(i).substr(0, work(i).find(" named")) : work(i));
    });
  }

  std::size_t communicating_ops() const {
    std::set<std::uint32_t> ops;
    for (const Collective& one : trace_.collectives) {
      if (one.op.valid()) ops.insert(one.op.value);
    }
    return ops.size();
  }

  std::vector<std::string> calls() const {
    const Calls& calls = trace_.calls;
    return lines(calls.size(), [&](std::size_t i) {
      return fmt::format("{} {} {} {} {} {} {}", call(CallId::from(i)), thread(calls.thread[i]),
                         stream(calls.stream[i]), calls.correlation[i], calls.sync_id[i],
                         static_cast<int>(calls.kind[i]), calls.bytes[i]);
    });
  }

  std::vector<std::string> ranges() const {
    const Ranges& ranges = trace_.ranges;
    return lines(ranges.size(), [&](std::size_t i) {
      RangeId id = RangeId::from(i);
      std::string line =
          fmt::format("{} {} {} {} depth {} in {}", range(id), thread(ranges.thread[i]),
                      trace_.domains[ranges.domain[i].value], ranges.flags[i], ranges.depth[i],
                      range(ranges.parent[i]));
      if (const RangeInfo* info = trace_.info(id))
        line += fmt::format(" kind {} phase {} step {} sequence {} shapes {} dtypes {}",
                            static_cast<int>(info->kind), static_cast<int>(info->phase), info->step,
                            info->sequence, text(info->shapes), text(info->dtypes));
      return line;
    });
  }

  std::vector<std::string> collectives() const {
    return lines(trace_.collectives.size(), [&](std::size_t i) {
      const Collective& one = trace_.collectives[i];
      std::string op = one.op.valid() ? time(trace_.device_ops.start[one.op.value]) : "none";
      return fmt::format("op {} range {} {} {} {} bytes {} sequence {} ranks {} peer {}", op,
                         range(one.range), text(one.kind), text(one.communicator), text(one.dtype),
                         one.bytes, one.sequence, one.ranks, one.peer);
    });
  }

  std::vector<std::string> overheads() const {
    return lines(trace_.overheads.size(), [&](std::size_t i) {
      const Overhead& one = trace_.overheads[i];
      return fmt::format("{} {} {}", time(one.interval.begin), time(one.interval.end),
                         text(one.name));
    });
  }

 private:
  std::string work(std::size_t i) const {
    const DeviceOps& ops = trace_.device_ops;
    return fmt::format("{} {} on {} bytes {} blocks {} of {} named {}", time(ops.start[i]),
                       time(ops.end[i]), stream(ops.stream[i]), ops.bytes[i], ops.blocks[i],
                       ops.block_threads[i], text(ops.name[i]));
  }
  static std::vector<std::string> lines(std::size_t count, auto line) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(line(i));
    std::sort(all.begin(), all.end());
    return all;
  }
  std::string time(TimeNs at) const { return fmt::format("{}", at.ns - zero_); }
  std::string_view text(StringId id) const { return id.valid() ? trace_.strings[id] : ""; }
  std::string stream(StreamId id) const {
    if (!id.valid()) return "no stream";
    const Stream& one = trace_.streams[id.value];
    return fmt::format("{}/{}", trace_.devices[one.device.value].ordinal, one.ordinal);
  }
  std::string thread(ThreadId id) const {
    constexpr std::int32_t kFirstMadeUp = 0xf00000;
    const Thread& one = trace_.threads[id.value];
    if (one.tid < kFirstMadeUp) return fmt::format("{}", one.tid);
    return one.name.substr(0, one.name.find_last_not_of(' ') + 1);
  }
  std::string call(CallId id) const {
    if (!id.valid()) return "none";
    return fmt::format("{} {} {}", time(trace_.calls.start[id.value]),
                       time(trace_.calls.end[id.value]), text(trace_.calls.name[id.value]));
  }
  std::string range(RangeId id) const {
    if (!id.valid()) return "none";
    return fmt::format("{} {} {}", time(trace_.ranges.start[id.value]),
                       time(trace_.ranges.end[id.value]), text(trace_.ranges.name[id.value]));
  }

  const Trace& trace_;
  std::int64_t zero_ = 0;
};

/// The first lines that only one side has; empty when they are the same.
std::string only_one_has(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> only_a;
  std::vector<std::string> only_b;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_a));
  std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(only_b));
  std::string found;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, only_a.size()); ++i)
    found += fmt::format("before, {} of {}: {}\n", i + 1, only_a.size(), only_a[i]);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, only_b.size()); ++i)
    found += fmt::format("after, {} of {}: {}\n", i + 1, only_b.size(), only_b[i]);
  return found;
}

}  // namespace

TEST_CASE("a recording of PyTorch's profiler that is exported and imported again is the same") {
  std::vector<std::filesystem::path> files = test::recordings(".json.gz");
  if (files.empty()) MESSAGE("skipped: the real recordings are not on this machine");
  for (const std::filesystem::path& file : files) {
    CAPTURE(file);
    Trace trace = load(file);
    Trace again = exported_and_loaded(trace);
    Contents before(trace);
    Contents after(again);
    CHECK(only_one_has(before.device_ops(), after.device_ops()) == "");
    CHECK(only_one_has(before.calls(), after.calls()) == "");
    CHECK(only_one_has(before.ranges(), after.ranges()) == "");
    CHECK(only_one_has(before.collectives(), after.collectives()) == "");
    CHECK(only_one_has(before.overheads(), after.overheads()) == "");
    CHECK(again.world_size == trace.world_size);
    CHECK(again.start_utc_ns == trace.start_utc_ns);
    for (const auto* key : {&meta::kDistributedBackend, &meta::kDistributedRank})
      CHECK(again.meta_value(*key) == trace.meta_value(*key));
  }
}

TEST_CASE("the device work of Nsight Systems' recordings survives an export to JSON") {
  std::vector<std::filesystem::path> files = test::recordings(".sqlite");
  if (files.empty()) MESSAGE("skipped: the real recordings are not on this machine");
  for (const std::filesystem::path& file : files) {
    CAPTURE(file);
    Trace trace = load(file);
    Trace again = exported_and_loaded(trace);
    CHECK(again.calls.size() == trace.calls.size());
    CHECK(again.ranges.size() == trace.ranges.size());
    Contents before(trace);
    Contents after(again);
    CHECK(again.overheads.size() == trace.overheads.size());
    CHECK(only_one_has(before.device_work(), after.device_work()) == "");
    CHECK(after.communicating_ops() == before.communicating_ops());
  }
}

TEST_CASE("a training run as Chrome JSON has every event, linked, on named rows") {
  test::TraceBuilder builder;
  test::TrainingTrace run;
  run.steps = 5;
  run.build(builder);
  Trace trace = builder.load();
  nlohmann::json json = exported(trace);
  std::size_t ranges = 0;
  std::size_t ops = 0;
  std::set<std::string> rows;
  std::map<std::int64_t, int> flows;
  for (const auto& event : json["traceEvents"]) {
    std::string phase = event["ph"];
    std::string category = event.value("cat", "");
    ops += category == "kernel" || category.starts_with("gpu_mem");
    ranges += category == "user_annotation";
    if (phase == "M" && event["name"] == "thread_name")
      rows.insert(event["pid"].dump() + "/" + event["tid"].dump());
    if (phase == "X") CHECK(rows.contains(event["pid"].dump() + "/" + event["tid"].dump()));
    if (category == "ac2g") flows[event["id"].get<std::int64_t>()] += phase == "s" ? 1 : 10;
  }
  CHECK(ops == trace.device_ops.size());
  CHECK(ranges == trace.ranges.size());
  CHECK(of_category(json, "cuda_runtime").size() == trace.calls.size());
  std::size_t linked = 0;
  for (DeviceOpId op : trace.calls.op) linked += op.valid();
  CHECK(flows.size() == linked);
  for (const auto& [id, ends] : flows) CHECK(ends == 11);
}

TEST_CASE("times are exact decimals of microseconds") {
  auto text = [](std::int64_t ns) {
    std::string out;
    export_detail::append_microseconds(out, ns);
    return out;
  };
  CHECK(text(0) == "0.000");
  CHECK(text(1) == "0.001");
  CHECK(text(1234567) == "1234.567");
  CHECK(text(-1) == "-0.001");
  CHECK(text(1732199999123456789) == "1732199999123456.789");
  CHECK(text(INT64_MIN) == "-9223372036854775.808");
}

TEST_CASE("only arrays of numbers and texts pass as JSON, everything else becomes text") {
  using export_detail::is_json_array;
  CHECK(is_json_array("[[32, 1024], [], [-1]]"));
  CHECK(is_json_array("[\"float\", \"Scalar\"]"));
  CHECK(is_json_array("[]"));
  for (const char* text : {"", "1", "[", "]", "[1", "[1]]", "[1,]", "[,1]", "[1 2]", "[01]", "[-]",
                           "[\"a]", "[\"\\\"]", "[]}", "[1],\"x\":1", "[\"</script>\"]", "[null]",
                           "[\"\x1b\"]", "[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]"}) {
    CAPTURE(text);
    CHECK_FALSE(is_json_array(text));
  }
}

TEST_CASE("hostile names are inert in JSON and in CSV, and name no file") {
  test::TraceBuilder builder;
  builder.range(1, kHostile, 10, 20);
  builder.launch(1, 11, 12, 13, 14, {.name = kHostile});
  builder.counter(kHostile, kHostile, 15, 1.5);
  builder.thread_name(1, kHostile);
  builder.setting(kHostile, kHostile);
  Trace trace = builder.load();
  test::TemporaryFolder folder;
  export_chrome_json(trace, folder / "trace.json");
  std::string text = read_file(folder / "trace.json");
  for (char c : text) {
    CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
    CHECK(c != '<');
  }
  nlohmann::json json = nlohmann::json::parse(text);
  std::string name = of_category(json, "user_annotation").at(0)["name"];
  CHECK(name.starts_with("\"};alert(1)//</script>"));

  export_csv(trace, folder / "tables");
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "tables"))
    files.insert(entry.path().filename().string());
  CHECK(files.contains("nvtx_events.csv"));
  for (const std::string& file : files)
    CHECK(file.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.") == std::string::npos);
  std::string csv = read_file(folder / "tables" / "nvtx_events.csv");
  CHECK(csv.starts_with("row,start,end,"));
  CHECK(csv.find("\"\"\"};alert(1)") != std::string::npos);
}

TEST_CASE("a name is no formula in a table of the export, and a number stays one") {
  test::TraceBuilder builder;
  builder.range(1, "=HYPERLINK(\"http://x\")", 10, 20);
  builder.range(1, "@sum\x1b[2J", 30, 40);
  builder.counter("left", "%", 15, -1.5);
  test::TemporaryFolder folder;
  export_csv(builder.load(), folder / "tables");
  const std::string ranges = read_file(folder / "tables" / "nvtx_events.csv");
  CHECK(ranges.find("\"'=HYPERLINK(\"\"http://x\"\")\"") != std::string::npos);
  CHECK(ranges.find("'@sum") != std::string::npos);
  CHECK(ranges.find('\x1b') == std::string::npos);
  CHECK(read_file(folder / "tables" / "headway_counter.csv").find(",-1.5") != std::string::npos);
}

TEST_CASE("an export keeps collectives, waits, overheads and a compressed file is the same text") {
  test::TemporaryFolder folder;
  test::run_sql(folder / "export.sqlite", test::nsys_sample());
  Trace trace = load(folder / "export.sqlite");
  nlohmann::json json = exported(trace);
  auto kernels = of_category(json, "kernel");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0]["ts"].dump() == "0.1");
  CHECK(kernels[1]["args"]["Collective name"] == "allreduce");
  CHECK(kernels[1]["args"]["In msg nelems"] == 1024);
  CHECK(kernels[1]["args"]["Group size"] == 2);
  auto syncs = of_category(json, "cuda_sync");
  REQUIRE(syncs.size() == 1);
  CHECK(syncs[0]["args"]["wait_on_cuda_event_record_corr_id"] == 3);
  CHECK(syncs[0]["args"]["wait_on_stream"] == 20);
  CHECK(of_category(json, "overhead").size() == 2);
  CHECK(of_category(json, "cuda_runtime")[0]["name"] == "cudaLaunchKernel");
  CHECK(json["distributedInfo"]["rank"] == 1);
  CHECK(json["distributedInfo"]["world_size"] == 2);

  export_chrome_json(trace, folder / "trace.json");
  export_chrome_json(trace, folder / "trace.json.gz");
  struct stat info {};
  REQUIRE(::stat((folder / "trace.json.gz").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(static_cast<std::uintmax_t>(info.st_size) <
        std::filesystem::file_size(folder / "trace.json") / 2);
  CHECK(read_file(folder / "trace.json.gz").starts_with("\x1f\x8b"));
  CHECK_THROWS_AS(export_chrome_json(trace, folder / "trace.json"), Error);
  CHECK_THROWS_AS(export_chrome_json(trace, folder / "missing" / "trace.json"), Error);
  CHECK_THROWS_AS(export_csv(trace, folder / "trace.json"), Error);
}

}  // namespace headway::trace
