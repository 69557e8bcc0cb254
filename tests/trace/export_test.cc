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
#include "tests/support/compare_traces.h"
#include "tests/support/recordings.h"
#include "tests/support/training_trace.h"
#include "tests/trace/nsys_sample.h"
#include "trace/export/json_text.h"
#include "trace/load/load.h"

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

/// What both sides of an export to JSON must have in common when the source was no JSON: times
/// count from the first event there, so they are compared as distances from it.
std::vector<std::string> device_work(const Trace& trace) {
  std::int64_t zero = INT64_MAX;
  for (const auto* starts : {&trace.ranges.start, &trace.calls.start, &trace.device_ops.start}) {
    if (!starts->empty()) zero = std::min(zero, starts->front().ns);
  }
  const DeviceOps& ops = trace.device_ops;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Stream& stream = trace.streams[ops.stream[i].value];
    bool kernel =
        ops.kind[i] == DeviceOpKind::kKernel || ops.kind[i] == DeviceOpKind::kCommunication;
    CallId call = ops.call[i];
    lines.push_back(fmt::format(
        "{} {} {} {} {} {} {} {} {}", ops.start[i].ns - zero, ops.end[i].ns - zero,
        trace.devices[stream.device.value].ordinal, stream.ordinal,
        kernel ? trace.strings[ops.name[i]] : "", kernel ? 0 : static_cast<int>(ops.kind[i]),
        ops.bytes[i], ops.blocks[i],
        call.valid() ? trace.calls.start[call.value].ns - zero : -1));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("a recording of PyTorch's profiler that is exported and imported again is the same") {
  std::vector<std::filesystem::path> files = test::recordings(".json.gz");
  if (files.empty()) MESSAGE("skipped: the real recordings are not on this machine");
  for (const std::filesystem::path& file : files) {
    CAPTURE(file);
    Trace trace = load(file);
    std::string found;
    for (const std::string& line : test::differences(trace, exported_and_loaded(trace), {true}))
      found += line + "\n";
    CHECK(found == "");
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
    std::vector<std::string> before = device_work(trace);
    std::vector<std::string> after = device_work(again);
    REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < before.size(); ++i) REQUIRE(after[i] == before[i]);
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
