// SPDX-License-Identifier: MIT
#include "trace/snapshot/snapshot.h"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "tests/support/compare_traces.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_builder.h"
#include "tests/support/training_trace.h"
#include "trace/load/load.h"
#include "trace/snapshot/format.h"

namespace headway::trace {
namespace {

struct Written {
  Written() {
    test::TrainingTrace().build(builder);
    builder.counter("process.cpu", "%", 5, 12.5);
    builder.io(2, IoOp::kRead, "/data/a.jpg", 6000, 16'000, 100'000);
    builder.setting("batch", "32");
    file = builder.save();
    trace = load(file);
    key = *snapshot_key(file);
    REQUIRE(write_snapshot(trace, key, snapshot, {}));
  }

  std::string bytes() const {
    std::ifstream in(snapshot, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void replace(const std::string& content) const {
    std::ofstream(snapshot, std::ios::binary | std::ios::trunc) << content;
  }

  test::TraceBuilder builder;
  test::TemporaryFolder folder;
  std::filesystem::path snapshot = folder / "x.snapshot";
  std::filesystem::path file;
  Trace trace;
  SnapshotKey key;
};

}  // namespace

TEST_CASE("a snapshot gives back the trace that was written") {
  Written w;
  std::string why_not;
  std::optional<Trace> read = read_snapshot(w.snapshot, w.key, why_not);
  REQUIRE_MESSAGE(read, why_not);
  CHECK(test::differences(w.trace, *read).empty());
  CHECK(read->path == w.trace.path);
  CHECK(read->graph_op_index == w.trace.graph_op_index);
  CHECK(read->ops_of_stream.rows == w.trace.ops_of_stream.rows);
  CHECK(static_cast<std::int64_t>(std::filesystem::file_size(w.snapshot)) <=
        snapshot_bytes(w.trace));
  auto mode = std::filesystem::status(w.snapshot).permissions();
  CHECK((mode & std::filesystem::perms::group_all) == std::filesystem::perms::none);
  CHECK((mode & std::filesystem::perms::others_all) == std::filesystem::perms::none);
}

TEST_CASE("a snapshot of an earlier state of the file is of no use and no damage") {
  Written w;
  std::string why_not = "old text";
  SnapshotKey later = w.key;
  later.modified_ns += 1;
  CHECK(!read_snapshot(w.snapshot, later, why_not));
  CHECK(why_not.empty());
  CHECK(!read_snapshot(w.folder / "none.snapshot", w.key, why_not));
  CHECK(why_not.empty());
}

TEST_CASE("a writer that is told to stop leaves nothing") {
  Written w;
  std::filesystem::path other = w.folder / "y.snapshot";
  CHECK(!write_snapshot(w.trace, w.key, other, [] { return false; }));
  CHECK(!std::filesystem::exists(other));
  CHECK(std::distance(std::filesystem::directory_iterator(w.folder.path()), {}) == 1);
}

TEST_CASE("a snapshot that is cut at any length is refused with a reason") {
  Written w;
  std::string whole = w.bytes();
  for (std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{40}, std::size_t{100},
                             std::size_t{4096}, whole.size() / 2, whole.size() - 1}) {
    w.replace(whole.substr(0, length));
    std::string why_not;
    CHECK(!read_snapshot(w.snapshot, w.key, why_not));
    CHECK(!why_not.empty());
  }
}

TEST_CASE("bytes that change in a snapshot are noticed, or make another sound trace") {
  Written w;
  const std::string whole = w.bytes();
  std::mt19937_64 random(7);
  int refused = 0;
  constexpr int kRounds = 600;
  for (int round = 0; round < kRounds; ++round) {
    std::string damaged = whole;
    // Half of them in the header and the table of sections.
    std::size_t reach = round % 2 ? whole.size() : 1500;
    for (int i = 0; i < 3; ++i) damaged[random() % reach] = static_cast<char>(random());
    w.replace(damaged);
    std::string why_not;
    std::optional<Trace> read = read_snapshot(w.snapshot, w.key, why_not);
    refused += !read;
    if (read) CHECK(snapshot_detail::problem_of(*read).empty());
  }
  CHECK(refused >= kRounds / 2 - 5);
}

TEST_CASE(
    "a table of sections that lies, under a right checksum, is refused or makes a sound trace") {
  using namespace snapshot_detail;
  Written w;
  const std::string whole = w.bytes();
  Header header;
  std::memcpy(&header, whole.data(), sizeof header);
  std::vector<Section> table(header.sections);
  std::memcpy(table.data(), whole.data() + sizeof header, table.size() * sizeof(Section));
  auto harmless = [&](std::vector<Section> lying) {
    Header signed_header = header;
    signed_header.checksum = checksum_of(signed_header, lying);
    std::string content = whole;
    std::memcpy(content.data(), &signed_header, sizeof signed_header);
    std::memcpy(content.data() + sizeof header, lying.data(), lying.size() * sizeof(Section));
    w.replace(content);
    std::string why_not;
    std::optional<Trace> read = read_snapshot(w.snapshot, w.key, why_not);
    return read ? problem_of(*read).empty() : !why_not.empty();
  };
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::vector<Section> lying = table;
    lying[i].count += 1;
    CHECK(harmless(lying));
    lying = table;
    lying[i].count = ~std::uint64_t{0} / 8;
    CHECK(harmless(lying));
    lying = table;
    lying[i].offset = ~std::uint64_t{0} - 10;
    CHECK(harmless(lying));
    lying = table;
    lying[i].element_bytes = 0;
    CHECK(harmless(lying));
  }
}

TEST_CASE("ids and times that no loader makes are found") {
  using snapshot_detail::problem_of;
  Written w;
  REQUIRE(problem_of(w.trace).empty());
  auto broken = [&](auto change) {
    Trace trace = load(w.file);
    change(trace);
    return !problem_of(trace).empty();
  };
  CHECK(broken([](Trace& t) { t.ranges.thread[1] = {9999}; }));
  CHECK(broken([](Trace& t) { t.ranges.parent[1] = {1}; }));
  CHECK(broken([](Trace& t) { t.ranges.start[2] = {INT64_MIN}; }));
  CHECK(broken([](Trace& t) { t.ranges.end[2] = {INT64_MAX}; }));
  CHECK(broken([](Trace& t) { std::swap(t.calls.start.front(), t.calls.start.back()); }));
  CHECK(broken([](Trace& t) { t.calls.op[0] = {12345678}; }));
  CHECK(broken([](Trace& t) { t.device_ops.stream[0] = {}; }));
  CHECK(broken([](Trace& t) { t.device_ops.kind.pop_back(); }));
  CHECK(broken([](Trace& t) { t.streams[0].device = {77}; }));
  CHECK(broken([](Trace& t) { t.threads[0].process = {}; }));
  CHECK(broken([](Trace& t) { t.counters[0].time[0] = {INT64_MAX}; }));
  CHECK(broken([](Trace& t) { t.domains.clear(); }));
}

}  // namespace headway::trace
