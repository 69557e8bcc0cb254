// SPDX-License-Identifier: MIT
// Files as they really are: cut, damaged, odd, hostile.
#include <doctest/doctest.h>
#include <zip.h>
#include <zlib.h>

#include "tests/trace/import/kineto_file.h"
#include "trace/import/trace_files.h"

namespace headway::trace {
namespace {

using test::ContentFile;
using test::error_of;
using test::error_of_text;
using test::load_events;
using test::load_text;
using test::loss;

constexpr std::string_view kSmall = R"({
  "schemaVersion": 1,
  "distributedInfo": {"rank": 1, "world_size": 2},
  "traceEvents": [
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::\"quoted\" \u00e9 {[", "pid": 9, "tid": 9,
    "ts": 100.250, "dur": 3.125,
    "args": {
      "Input Dims": [[1, 2], []], "Note": "}, {\"ph\": \"X\""
    }
  },
  {
    "ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
    "ts": 101.000, "dur": 3.000,
    "args": { "device": 0, "stream": 7, "correlation": 4, "bad": NaN, "worse": -Infinity }
  }
  ],
  "traceName": "small.json"
}
)";

std::string text_of_first_range(const Trace& trace) {
  return trace.ranges.size() ? std::string(trace.strings[trace.ranges.name[0]]) : "(none)";
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(compressBound(text.size()) + 64, '\0');
  std::string in(text);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void write_zip(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, std::string>>& members) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  REQUIRE(archive);
  for (const auto& [name, content] : members)
    zip_file_add(archive, name.c_str(),
                 zip_source_buffer(archive, content.data(), content.size(), 0), 0);
  REQUIRE(zip_close(archive) == 0);
}

}  // namespace

TEST_CASE("a small recording loads, with escapes resolved and NaN in args passed over") {
  Trace trace = load_text(kSmall);
  CHECK(trace.complete);
  CHECK(text_of_first_range(trace) == "aten::\"quoted\" \u00e9 {[");
  CHECK(trace.device_ops.size() == 1);
  CHECK(loss(trace, "malformed_record") == 0);
  CHECK(trace.meta_value("kineto.traceName") == "small.json");
}

TEST_CASE("every prefix of a recording loads with a loss that says where it ends, or is refused") {
  std::size_t array = kSmall.find('[');
  std::size_t first_end = kSmall.find("\n  },") + 4;
  std::size_t closed = kSmall.find("\n  ],") + 4;
  test::TemporaryFolder folder;
  auto path = folder / "cut.json";
  for (std::size_t length = 1; length < kSmall.size() - 1; ++length) {
    CAPTURE(length);
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(kSmall.data(), std::streamsize(length));
    if (length < first_end) {
      std::string text = error_of(path);
      CHECK(text != "(no error)");
      CHECK(text.find("byte ") != std::string::npos);
      continue;
    }
    REQUIRE(array < first_end);
    Trace trace = load(path);
    bool whole_tail = length >= kSmall.rfind('}') + 1;
    CHECK(trace.ranges.size() == 1);
    CHECK(loss(trace, "file_cut") == (whole_tail ? 0 : 1));
    CHECK(trace.complete == whole_tail);
    CHECK(loss(trace, "malformed_record") == 0);
    if (length >= closed) CHECK(trace.device_ops.size() == 1);
    for (const LossCount& count : trace.losses) {
      if (count.name != "file_cut") continue;
      CHECK(count.severity == "loss");
      CHECK(count.text.find("byte ") != std::string::npos);
    }
  }
}

TEST_CASE("the list form needs no closing bracket, a byte order mark does no harm") {
  std::string_view event = R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1})";
  for (const std::string& text :
       {"[" + std::string(event) + "]", "[" + std::string(event), "[" + std::string(event) + ",\n",
        "\xef\xbb\xbf[" + std::string(event) + "]",
        "\xef\xbb\xbf{\"traceEvents\":[" + std::string(event) + ",]}"}) {
    CAPTURE(text);
    Trace trace = load_text(text);
    CHECK(trace.ranges.size() == 1);
    CHECK(trace.complete);
    CHECK(trace.losses.empty());
  }
  Trace cut = load_text("[" + std::string(event) + ",{\"ph\":");
  CHECK(!cut.complete);
  CHECK(loss(cut, "file_cut") == 1);
}

TEST_CASE("broken records are counted and skipped, the others stay") {
  auto good = [](int at) {
    return R"({"ph":"X","cat":"cpu_op","name":"good","pid":1,"tid":1,"ts":)" + std::to_string(at) +
           R"(,"dur":1})";
  };
  for (std::string_view bad : {
           R"({"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":1,"ts":NaN,"dur":1})",
           R"({"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":1,"dur":1})",
           R"({"ph":"X" "cat":"cpu_op","ts":1})",
           R"({"ph":"X","name":"x,"ts":1})",
           R"({"ph":"X","name":"x","args":{"a":1,"ts":1})",
           R"({"ph":"X","ts":1e40,"dur":1})",
           R"(null)",
           R"("text")",
           R"({})",
       }) {
    CAPTURE(bad);
    Trace trace = load_events(good(1) + "," + std::string(bad) + "," + good(5) + "," + good(9) +
                              "," + good(12));
    CHECK(loss(trace, "malformed_record") == 1);
    CHECK(trace.ranges.size() >= 3);
    CHECK(trace.complete);
  }
  CHECK(error_of_text(R"({"traceEvents":[{"a":1},{"b":2},{"c":3}]})").find("byte ") !=
        std::string::npos);
}

TEST_CASE("control characters and bytes that are not UTF-8 are replaced and counted") {
  std::string text =
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\tb\x01\xff\",\"pid\":1,\"tid\":1,\"ts\":1,"
      "\"dur\":1},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":3,"
      "\"dur\":1}";
  Trace trace = load_events(text);
  CHECK(trace.ranges.size() == 2);
  CHECK(text_of_first_range(trace) == "a b ?");
  CHECK(loss(trace, "repaired_text") == 1);
}

TEST_CASE("times as text, in nanoseconds, without duration, backwards, and far away") {
  Trace text = load_events(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":"1","tid":"main","ts":"1.5","dur":"2.25"})");
  CHECK(text.ranges.interval(RangeId{0}).length().ns == 2250);
  CHECK(text.processes[0].pid == 1);
  Trace ns = load_events(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1712195495519689123,"dur":250})");
  CHECK(ns.ranges.interval(RangeId{0}).length().ns == 250);
  CHECK(ns.start_utc_ns == 1712195495519689123);
  Trace odd = load_events(R"(
{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1712195495519689,"dur":250},
{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":1712195495519690},
{"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":1,"ts":1712195495519691,"dur":-5},
{"ph":"X","cat":"kernel","name":"d","pid":0,"tid":7,"ts":0,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"cpu_op","name":"e","pid":1,"tid":1,"ts":1712195495519692,"dur":1,"dur":2})");
  CHECK(loss(odd, "missing_duration") == 1);
  CHECK(loss(odd, "negative_duration") == 1);
  CHECK(loss(odd, "time_out_of_range") == 1);
  CHECK(odd.ranges.size() == 3);
  CHECK(odd.ranges.interval(RangeId{2}).length().ns == 2000);
  CHECK(odd.device_ops.size() == 0);
}

TEST_CASE("what is no recording is refused with its reason") {
  CHECK(error_of_text("{}").find("traceEvents") != std::string::npos);
  CHECK(error_of_text(R"({"a":1,"b":[2]})").find("keys: a, b") != std::string::npos);
  CHECK(error_of_text("[").find("byte ") == std::string::npos);
  CHECK(error_of_text(R"({"traceEvents":[}})").find("byte ") != std::string::npos);
  CHECK(error_of_text(R"({"traceEvents" 5})").find("expected ':'") != std::string::npos);
  CHECK(error_of_text("{\"a\":").find("byte ") != std::string::npos);
  CHECK(error_of_text("loss 0.5\n").find("not a trace") != std::string::npos);
  CHECK(load_text(R"({"traceEvents":[]})").event_count() == 0);
}

TEST_CASE("deep nesting and hostile names are only data") {
  std::string deep(20000, '[');
  deep += std::string(20000, ']');
  Trace trace = load_events(
      R"({"ph":"X","cat":"'; DROP TABLE x; --","name":"<script>\u001b[31m","pid":1,"tid":1,
 "ts":1,"dur":1,"args":{"deep":)" +
      deep + "}}");
  CHECK(text_of_first_range(trace) == "<script>\x1b[31m");
  CHECK(trace.domains.back() == "'; DROP TABLE x; --");
}

TEST_CASE("records that hold look-alikes of record ends are read whole, wherever blocks end") {
  // More than a block of 4 MiB, so that the guessed cut lies inside such a record.
  std::string inner = R"({"name":"x","ph":"X","ts":1,"dur":1,"pid":1,"tid":1})";
  std::string list = inner;
  for (int i = 0; i < 120000; ++i) list += "," + inner;
  std::string event =
      R"({"ph":"X","cat":"cpu_op","name":"big","pid":1,"tid":1,"ts":5,"dur":1,"args":{"list":[)" +
      list + "]}}";
  std::string small = R"({"ph":"X","cat":"cpu_op","name":"small","pid":1,"tid":1,"ts":9,"dur":1})";
  for (int threads : {1, 2}) {
    Trace trace = load_text("{\"traceEvents\":[" + small + "," + event + "," + small +
                                "],\"more\":[" + list + "],\"traceName\":\"end\"}",
                            threads);
    CHECK(trace.ranges.size() == 3);
    CHECK(trace.losses.empty());
    CHECK(trace.meta_value("kineto.traceName") == "end");
  }
}

TEST_CASE("any number of threads gives the same trace") {
  std::string events;
  for (int i = 0; i < 60000; ++i) {
    if (i) events += ",\n";
    events += R"({"ph":"X","cat":"cpu_op","name":"op )" + std::to_string(i % 977) +
              R"(","pid":1,"tid":)" + std::to_string(1 + i % 3) + R"(,"ts":)" +
              std::to_string(1000000 - i * 7) + R"(.125,"dur":3,"args":{"Input Dims":[[)" +
              std::to_string(i % 13) + R"(]],"Sequence number":)" + std::to_string(i) + "}}";
  }
  std::string text = "{\"traceEvents\":[" + events + "]}";
  Trace one = load_text(text, 1);
  Trace four = load_text(text, 4);
  CHECK(one.ranges.size() == 60000);
  CHECK(one.ranges.start == four.ranges.start);
  CHECK(one.ranges.name == four.ranges.name);
  CHECK(one.ranges.thread == four.ranges.thread);
  CHECK(one.ranges.info == four.ranges.info);
  CHECK(std::is_sorted(one.ranges.start.begin(), one.ranges.start.end()));
}

TEST_CASE("gzip, in one member or several, whole or cut, and with something else inside") {
  std::string whole = gzip(kSmall);
  CHECK(load(ContentFile(whole, "t.json.gz").path).device_ops.size() == 1);
  std::string two = gzip(kSmall.substr(0, 300)) + gzip(kSmall.substr(300)) + std::string(64, '\0');
  CHECK(load(ContentFile(two, "t.json.gz").path).device_ops.size() == 1);
  CHECK(error_of(ContentFile(gzip("SQLite format 3"), "t.sqlite.gz").path).find("gunzip") !=
        std::string::npos);
  CHECK(error_of(ContentFile(gzip("epoch 1"), "t.gz").path).find("gunzip -k") != std::string::npos);
  std::string damaged = whole;
  for (std::size_t i = 40; i < 80; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  CHECK(error_of(ContentFile(damaged, "t.json.gz").path) != "(no error)");
  for (std::size_t length = 2; length < whole.size(); ++length) {
    CAPTURE(length);
    ContentFile file(std::string_view(whole).substr(0, length), "cut.json.gz");
    try {
      Trace trace = load(file.path);
      CHECK(trace.ranges.size() == 1);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kBadInput);
    }
  }
}

TEST_CASE("zip archives of one recording open, of several by the member's name") {
  test::TemporaryFolder folder;
  write_zip(folder / "one.zip", {{"notes.txt", "x"}, {"run/rank0.json", std::string(kSmall)}});
  CHECK(load(folder / "one.zip").device_ops.size() == 1);
  write_zip(folder / "two.zip",
            {{"rank1.json.gz", gzip(kSmall)}, {"rank0.json", std::string(kSmall)}});
  CHECK(error_of(folder / "two.zip").find("2 recordings") != std::string::npos);
  auto files = trace_files(folder / "two.zip");
  REQUIRE(files.size() == 2);
  CHECK(files[0].filename() == "rank0.json");
  for (const auto& file : files) CHECK(load(file).device_ops.size() == 1);
  CHECK(error_of(folder / "two.zip" / "rank9.json").find("no such member") != std::string::npos);
  write_zip(folder / "none.zip", {{"notes.txt", "x"}});
  CHECK(error_of(folder / "none.zip").find("without recordings") != std::string::npos);
  CHECK(error_of(folder / "none.zip").find("unzip '") != std::string::npos);
  CHECK(error_of(ContentFile("PK\x03\x04 broken", "b.zip").path).find("zip") != std::string::npos);
}

TEST_CASE("files of other tools are refused with the command that converts them") {
  auto text = [](std::string_view content, const std::string& name) {
    return error_of(ContentFile(content, name).path);
  };
  CHECK(text("xyz", "run.nsys-rep").find("nsys export --type sqlite") != std::string::npos);
  CHECK(text("xyz", "run.qdrep").find("nsys export --type sqlite") != std::string::npos);
  CHECK(text(std::string_view("NVR\0xyz", 7), "kernel").find("Nsight Compute") !=
        std::string::npos);
  CHECK(text("\x0a\x05", "other.pb").find("no profile of TensorFlow or JAX") != std::string::npos);
  CHECK(text("\x0a\x05", "t.pftrace").find("traceconv json") != std::string::npos);
  CHECK(text("\x28\xb5\x2f\xfd....", "t.json.zst").find("zstd -d") != std::string::npos);
  CHECK(text("\xff\xfe{", "t.json").find("iconv -f UTF-16") != std::string::npos);
  CHECK(text(std::string_view("{\0\"\0", 4), "t.json").find("iconv -f UTF-16") !=
        std::string::npos);
  CHECK(text("{\n \"rocprofiler-sdk-tool\": []}", "r.json").find("torch.profiler") !=
        std::string::npos);
  CHECK(text("\"Kind\",\"Agent_Id\",\"Queue_Id\"\n", "kernel_trace.csv").find("rocprofv3") !=
        std::string::npos);
  CHECK(text("<html><body>", "memory.html").find("HTML page") != std::string::npos);
  CHECK(text("[[1, 2], [3, 4], [[0, 0], [1, 1]]]", "memory.json").find("memory timeline") !=
        std::string::npos);
}

}  // namespace headway::trace
