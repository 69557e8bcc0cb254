// SPDX-License-Identifier: MIT
// Profiles as they really are: cut, damaged, packed, hostile.
#include <doctest/doctest.h>
#include <zip.h>
#include <zlib.h>

#include <fstream>
#include <random>

#include "tests/trace/import/kineto_file.h"
#include "tests/trace/import/xplane_file.h"
#include "trace/import/inputs.h"
#include "trace/import/trace_files.h"

namespace headway::trace {
namespace {

using test::ContentFile;
using test::error_of;
using test::loss;
using test::Proto;
using test::Ref;
using test::TemporaryFolder;
using test::XPlane;
using test::xspace;

std::string small_profile() {
  XPlane device("/device:GPU:0");
  device.stats({{"device_vendor", "Nvidia"}});
  device.line(14, "Stream #14(Compute)")
      .event("fusion", 100, 50,
             {{"correlation_id", 2}, {"hlo_op", Ref{"fusion.1"}}, {"hlo_module", Ref{"jit_f"}}});
  XPlane host("/host:CPU");
  host.line(42, "python")
      .event("train", 0, 500, {{"step_num", 7}})
      .event("cuLaunchKernel", 50, 20, {{"correlation_id", 2}})
      .event("Iterator::Root::Prefetch", 200, 20, {}, "Iterator::Prefetch");
  return xspace({device, host});
}

std::string error_of_bytes(std::string_view bytes, const std::string& name = "p.xplane.pb") {
  return error_of(ContentFile(bytes, name).path);
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// What every analysis relies on.
void check_sound(const Trace& trace) {
  bool sound = true;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    RangeId parent = trace.ranges.parent[i];
    sound = sound && trace.ranges.start[i] <= trace.ranges.end[i] &&
            trace.ranges.start[i].ns >= 0 && (!parent.valid() || parent.value < i);
  }
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    sound = sound && trace.device_ops.start[i] <= trace.device_ops.end[i] &&
            trace.device_ops.stream[i].value < trace.streams.size();
  }
  CHECK(sound);
}

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(compressBound(bytes.size()) + 64, '\0');
  std::string in(bytes);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

TEST_CASE("a profile is known by its content, plain, in gzip and in a zip archive") {
  std::string bytes = small_profile();
  CHECK(load(ContentFile(bytes, "renamed.bin").path).device_ops.size() == 1);
  CHECK(load(ContentFile(gzip(bytes), "node.xplane.pb.gz").path).device_ops.size() == 1);
  TemporaryFolder folder;
  std::filesystem::path archive = folder / "profile.zip";
  zip_t* zip = zip_open(archive.c_str(), ZIP_CREATE, nullptr);
  REQUIRE(zip);
  for (const char* name : {"plugins/profile/run/a.xplane.pb", "plugins/profile/run/b.xplane.pb"}) {
    zip_source_t* source = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
    REQUIRE(zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8) >= 0);
  }
  REQUIRE(zip_close(zip) == 0);
  auto files = trace_files(archive);
  REQUIRE(files.size() == 2);
  CHECK(load(files[1]).device_ops.size() == 1);
}

TEST_CASE("a log folder of a profiler stands for its run, with all hosts") {
  TemporaryFolder folder;
  std::string bytes = small_profile();
  std::filesystem::path runs = std::filesystem::path(folder / "log") / "plugins/profile";
  write(runs / "2026_01_01/host0.xplane.pb", bytes);
  write(runs / "2026_01_01/host1.xplane.pb", bytes);
  // JAX writes what it draws itself beside them.
  write(runs / "2026_01_01/host0.trace.json.gz", "{}");
  write(runs / "2026_01_01/perfetto_trace.json.gz", "{}");
  auto files = expand_inputs({(folder / "log").string()});
  REQUIRE(files.size() == 2);
  CHECK(files[0].ends_with("host0.xplane.pb"));
  CHECK(expand_inputs({(runs / "2026_01_01").string()}) == files);
  write(runs / "2026_01_02/host0.xplane.pb", bytes);
  CHECK_THROWS_AS(expand_inputs({(folder / "log").string()}), Error);
}

TEST_CASE("damaged profiles are refused with the byte and a remedy") {
  CHECK(contains(error_of_bytes(""), "empty"));
  // A field that is longer than the file.
  std::string cut = error_of_bytes(std::string_view("\x0a\x7f\x12", 3));
  CHECK(contains(cut, "byte 1 of 3"));
  CHECK(contains(cut, "copy the file again"));
  std::string endless(12, '\xff');
  CHECK(contains(error_of_bytes(endless), "ten bytes"));
  CHECK(contains(error_of_bytes(std::string_view("\x0b\x01", 2)), "unknown type"));
  CHECK(contains(error_of_bytes(std::string_view("\x02\x01", 2)), "invalid number"));
  CHECK(contains(error_of_bytes(Proto().text(1, Proto().text(2, "other").bytes).bytes),
                 ".xplane.pb"));
  std::string compressed = gzip(small_profile());
  CHECK(contains(error_of_bytes(compressed.substr(0, compressed.size() / 2), "p.xplane.pb.gz"),
                 "p.xplane.pb.gz"));
  std::string text;
  for (int i = 0; i < 200; ++i) text += "\x0a\xef\xbf\xbd";
  CHECK(contains(error_of_bytes(text), "binary mode"));
}

TEST_CASE("a file of two gigabytes of nothing costs no memory") {
  // Empty events, two bytes each: the limit on rows ends them.
  std::string line;
  constexpr int kEvents = 31'000'000;
  line.reserve(kEvents * 2);
  for (int i = 0; i < kEvents; ++i) line += std::string_view("\x22\x00", 2);
  Proto plane;
  plane.text(2, "/host:CPU").text(3, line).text(3, line);
  std::string bytes = Proto().message(1, plane).bytes;
  CHECK(contains(error_of_bytes(bytes), "60 million rows"));
}

TEST_CASE("events that no recording can have are set aside and counted") {
  XPlane host("/host:CPU");
  host.line(1, "python").event("good", 0, 10);
  host.raw_event(Proto().number(1, host.kind("good")).number(2, 0).number(3, -5'000'000));
  host.raw_event(Proto().number(1, host.kind("good")).number(2, INT64_MAX).number(3, 10));
  host.raw_event(Proto()
                     .number(1, host.kind("good"))
                     .number(2, std::int64_t{30} * 24 * 3600 * 1'000'000'000'000)
                     .number(3, 1));
  host.raw_event(Proto().number(1, 12345).number(2, 0).number(3, 1));
  host.raw_event(Proto().number(1, host.kind("good")).number(5, 100));
  Trace trace = load(ContentFile(xspace({host}), "p.xplane.pb").path);
  CHECK(trace.ranges.size() == 1);
  CHECK(loss(trace, "negative_duration") == 1);
  CHECK(loss(trace, "time_out_of_range") == 2);
  CHECK(loss(trace, "dangling_row") == 1);
}

TEST_CASE("what the profiler complains of is passed on") {
  std::string bytes = small_profile() + Proto().text(2, "No devices\nfound").bytes;
  Trace trace = load(ContentFile(bytes, "p.xplane.pb").path);
  auto found = std::find_if(trace.losses.begin(), trace.losses.end(),
                            [](const LossCount& one) { return one.name == "profiler_complaint"; });
  REQUIRE(found != trace.losses.end());
  CHECK(contains(found->text, "No devices found"));
}

TEST_CASE("every cut of a profile loads or is refused with a sentence") {
  std::string bytes = small_profile();
  TemporaryFolder folder;
  std::filesystem::path path = folder / "p.xplane.pb";
  std::size_t refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write(path, std::string_view(bytes).substr(0, size));
    try {
      check_sound(load(path, {.threads = 1}));
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kBadInput);
      CHECK(std::string_view(error.what()).find("p.xplane.pb") != std::string_view::npos);
      ++refused;
    }
  }
  // All but the cuts between the parts of the file.
  CHECK(refused + 2 >= bytes.size());
}

TEST_CASE("10,000 profiles with changed bytes load or are refused with a sentence") {
  std::string bytes = small_profile();
  TemporaryFolder folder;
  std::filesystem::path path = folder / "p.xplane.pb";
  std::mt19937_64 random(20261123);
  std::size_t refused = 0;
  std::size_t loaded = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string changed = bytes;
    for (std::uint64_t n = 1 + random() % 4; n > 0; --n)
      changed[random() % changed.size()] = static_cast<char>(random());
    write(path, changed);
    try {
      check_sound(load(path, {.threads = 1}));
      ++loaded;
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kBadInput);
      ++refused;
    }
  }
  CHECK(refused > 1000);
  CHECK(loaded > 1000);
}

}  // namespace headway::trace
