// SPDX-License-Identifier: MIT
// The storage that reads were made from, and the model that is fitted to them.
#include "analyzer/evidence/storage_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/evidence/loader.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using Basis = StorageModel::Basis;

constexpr std::int64_t kBytes = 1'000'000;

/// What reads are served by; times in ns.
struct Storage {
  std::int64_t own = 0;         ///< of a read, whoever else reads
  std::int64_t transfer = 0;    ///< of a read; transfers of all readers one after the other
  int places = 0;               ///< reads that are served at once; 0: all
  std::int64_t connection = 0;  ///< for a read's bytes, whoever else reads
  int cached_after = 0;         ///< from so many reads on a transfer takes a hundredth; 0: never
};

/// `readers` read and compute in turns; how long they compute differs a little. With `calls`, opens and
/// reads of eight files each as rows of calls: half of the own time is opening.
trace::Trace run_with(const Storage& storage, int readers, int reads_each, bool calls = false) {
  test::TraceBuilder builder;
  std::vector<std::int64_t> free(static_cast<std::size_t>(readers), 1000);
  std::vector<std::int64_t> places(static_cast<std::size_t>(std::max(1, storage.places)), 0);
  std::int64_t transfer_free = 0;
  for (int i = 0; i < readers * reads_each; ++i) {
    const auto reader = std::ranges::min_element(free);
    const auto tid = static_cast<std::int32_t>(reader - free.begin()) + 2;
    const std::int64_t begin = *reader;
    auto place = std::ranges::min_element(places);
    const std::int64_t served = storage.places > 0 ? std::max(begin, *place) : begin;
    const bool cached = storage.cached_after > 0 && i >= storage.cached_after;
    const std::int64_t transfer = cached ? storage.transfer / 100 : storage.transfer;
    transfer_free = std::max(served, transfer_free) + transfer;
    const std::int64_t end =
        std::max(served + storage.own + storage.connection + transfer, transfer_free);
    *place = end;
    builder.range(tid, "read", begin, end, {.kind = trace::RangeKind::kRead, .bytes = kBytes});
    if (calls) {
      const std::int64_t opened = served + storage.own / 2;
      builder.io(tid, trace::IoOp::kOpen, "/data/*", begin, opened, 0);
      builder.io(tid, trace::IoOp::kRead, "/data/*", opened, end, kBytes);
    }
    *reader = end + 300'000 + 7'000 * (i % 5);
  }
  return builder.load();
}

}  // namespace

TEST_CASE(
    "storage: what is read after warm-up tells what it serves, not the reads that filled the page "
    "cache") {
  test::TraceBuilder builder;
  std::int64_t t = 0;
  TimeNs warm;
  for (int i = 0; i < 40; ++i) {
    if (i == 16) warm = {t};
    const std::int64_t took = i < 16 ? 9'000'000 : 1'000'000;
    builder.range(2, "read", t, t + took, {.kind = trace::RangeKind::kRead, .bytes = kBytes});
    t += took + 200'000;
  }
  const trace::Trace trace = builder.load();
  CHECK(storage_model(trace, TimeNs::min()).total.milliseconds() == doctest::Approx(168));
  const StorageModel model = storage_model(trace, warm);
  CHECK(model.total.milliseconds() == doctest::Approx(24));
  CHECK(model.reads.size() == 24);
  CHECK(sum_reads(trace, warm).count == 24);
  CHECK(sum_reads(trace, warm).time == model.total);
}

TEST_CASE("storage: a transfer that readers share is told from the time that each read takes") {
  const trace::Trace trace = run_with({2'000'000, 1'000'000}, 6, 12);
  const StorageModel model = storage_model(trace, TimeNs::min());
  CHECK(model.basis == Basis::kContention);
  CHECK(model.places == 1);
  CHECK(model.bytes_per_s == doctest::Approx(1e9).epsilon(0.01));
  CHECK(model.turns.milliseconds() == doctest::Approx(72).epsilon(0.01));
  // The transfer is busy all the time: large reads would gain nothing, faster storage would.
  CHECK(model.left_if_packed > 0.9);
  CHECK(model.left_if_fast < 0.6);
}

TEST_CASE("storage: a limit that all reads together refute is none") {
  Storage storage{.own = 200'000, .transfer = 2'000'000};
  CHECK(storage_model(run_with(storage, 8, 500), TimeNs::min()).limited());
  storage.cached_after = 800;
  CHECK_FALSE(storage_model(run_with(storage, 8, 500), TimeNs::min()).limited());
}

TEST_CASE("storage: reads that take equally long however many are open share nothing") {
  for (int readers : {1, 2, 8}) {
    CAPTURE(readers);
    const StorageModel model = storage_model(run_with({12'000'000, 0}, readers, 12), TimeNs::min());
    CHECK(model.basis == Basis::kAssumed);
    CHECK(model.bytes_per_s == doctest::Approx(1e8).epsilon(0.01));
    CHECK(model.left_if_packed == doctest::Approx(10.0 / 12).epsilon(0.01));
  }
}

TEST_CASE("storage: bytes take time on a connection that no other reader shares, too") {
  // Readers that never met a limit: what they share is hardly anything, and yet more bytes take longer.
  const StorageModel model =
      storage_model(run_with({2'000'000, 0, 0, 10'000'000}, 4, 12, true), TimeNs::min());
  CHECK(model.basis == Basis::kCalls);
  CHECK(model.left_with_bytes(2) == doctest::Approx(1 + 10.0 / 12).epsilon(0.02));
  CHECK(model.left_if_packed == doctest::Approx(10.0 / 12).epsilon(0.02));
}

TEST_CASE("storage: so many reads are served at once") {
  const StorageModel model = storage_model(run_with({4'000'000, 0, 2}, 6, 12), TimeNs::min());
  CHECK(model.basis == Basis::kContention);
  CHECK(model.places == 2);
  CHECK(model.turns.milliseconds() == doctest::Approx(72 * 4 / 2).epsilon(0.02));
}

TEST_CASE(
    "storage: calls on files tell what a request costs, where one reader cannot show a limit") {
  const trace::Trace trace = run_with({2'000'000, 5'000'000}, 1, 12, true);
  const StorageModel model = storage_model(trace, TimeNs::min());
  CHECK(model.basis == Basis::kCalls);
  // A request costs the 1 ms of an open, so 5 of the 7 ms are for bytes.
  CHECK(model.bytes_per_s == doctest::Approx(2e8).epsilon(0.01));
  CHECK(model.left_if_packed == doctest::Approx(5.0 / 7).epsilon(0.01));
}

TEST_CASE("storage: what calls on files say bounds the transfer: the others wait for a place") {
  const StorageModel model = storage_model(run_with({4'000'000, 0, 1}, 4, 12, true), TimeNs::min());
  CHECK(model.basis == Basis::kContention);
  CHECK(model.places == 1);
  CHECK(model.left_if_packed < 0.1);
  CHECK(model.left_if_fast > 0.9);
}

TEST_CASE(
    "storage: where readers always wait for the only place, an open is what follows the wait") {
  const StorageModel model =
      storage_model(run_with({600'000, 0, 1, 40'000'000}, 4, 12, true), TimeNs::min());
  REQUIRE(model.basis == Basis::kContention);
  CHECK(model.places == 1);
  REQUIRE(model.request);
  CHECK(model.request->milliseconds() == doctest::Approx(0.3).epsilon(0.02));
  CHECK(model.bytes_per_s == doctest::Approx(1e6 / 0.04).epsilon(0.02));
  CHECK(model.left_if_fast < 0.05);
  CHECK(model.left_if_packed > 0.95);
}

TEST_CASE("storage: of a read at a place, the open and the read itself are requests") {
  // 16 ms for nothing but an open and a read of 8 ms each: twice the bytes in it would take as long.
  const StorageModel model =
      storage_model(run_with({16'000'000, 0, 1, 0}, 4, 12, true), TimeNs::min());
  REQUIRE(model.limited());
  CHECK(model.requests_in_read == doctest::Approx(2));
  REQUIRE(model.of_requests());
  CHECK(model.of_requests()->likely == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("storage: reads without sizes tell nothing") {
  test::TraceBuilder builder;
  builder.range(2, "read", 1000, 2000, {.kind = trace::RangeKind::kRead});
  CHECK(storage_model(builder.load(), TimeNs::min()).basis == Basis::kNone);
  CHECK(storage_model(trace::Trace(), TimeNs::min()).basis == Basis::kNone);
}

TEST_CASE(
    "storage: of reads of one size, opens tell what a request costs, else what a disk can take for "
    "one") {
  // Six readers take turns at transfers of 40 ms; an open takes 1 ms.
  const StorageModel told =
      storage_model(run_with({2'000'000, 40'000'000}, 6, 12, true), TimeNs::min());
  REQUIRE(told.limited());
  REQUIRE(told.of_requests());
  CHECK(told.of_requests()->likely == doctest::Approx(1.0 / 40).epsilon(0.2));
  // Without calls, no disk takes more than 20 ms for a request.
  const StorageModel large = storage_model(run_with({2'000'000, 40'000'000}, 6, 12), TimeNs::min());
  REQUIRE(large.of_requests());
  CHECK(large.of_requests()->most == doctest::Approx(0.5).epsilon(0.1));
  CHECK(large.of_requests()->likely == doctest::Approx(0.25).epsilon(0.1));
  const StorageModel small = storage_model(run_with({2'000'000, 4'000'000}, 6, 12), TimeNs::min());
  REQUIRE(small.of_requests());
  CHECK(small.of_requests()->most == 1);
}

TEST_CASE("storage: one reader after the other waits for nobody, though they are many threads") {
  test::TraceBuilder builder;
  // Reads of 10 to 30 ms, the mean 20, by four threads in turns.
  for (int i = 0; i < 40; ++i) {
    const std::int64_t begin = 1000 + 40'000'000LL * i;
    const std::int64_t end = begin + 10'000'000 + 5'000'000LL * (i % 5);
    builder.range(2 + i % 4, "read", begin, end,
                  {.kind = trace::RangeKind::kRead, .bytes = kBytes});
    builder.io(2 + i % 4, trace::IoOp::kOpen, "/data/*", begin, begin + 1000, 0);
    builder.io(2 + i % 4, trace::IoOp::kRead, "/data/*", begin + 1000, end, kBytes);
  }
  const StorageModel model = storage_model(builder.load(), TimeNs::min());
  CHECK(model.bytes_per_s == doctest::Approx(50e6).epsilon(0.02));
}

TEST_CASE("storage: reads that never overlap take turns, however evenly they come") {
  // Two loaders, each with four workers at a storage of its own. Even steps hide the queue: every read takes the wait and its turn.
  test::TraceBuilder builder;
  std::set<trace::ThreadId> own;
  for (int loader = 0; loader < 2; ++loader) {
    std::vector<std::int64_t> free(4, 1'000'000 * loader);
    std::int64_t place = 0;
    for (int i = 0; i < 60; ++i) {
      const std::size_t worker = static_cast<std::size_t>(i % 4);
      const std::int64_t noise = 100'000 * ((i * 7 + loader) % 13 - 6);
      const auto tid = static_cast<std::int32_t>(worker) + 2 + 4 * loader;
      const std::int64_t begin = free[worker];
      const std::int64_t opened = std::max(begin, place) + 2'000'000;
      place = opened + 26'000'000 + noise;
      builder.range(tid, "read", begin, place, {.kind = trace::RangeKind::kRead, .bytes = kBytes});
      builder.io(tid, trace::IoOp::kOpen, "/data/a", begin, opened, 0);
      builder.io(tid, trace::IoOp::kRead, "/data/a", opened, place, kBytes);
      free[worker] = place + 50'000'000;
    }
  }
  const trace::Trace trace = builder.load();
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t)
    if (trace.threads[t].tid >= 2 && trace.threads[t].tid < 6) own.insert(trace::ThreadId{t});
  REQUIRE(own.size() == 4);
  const StorageModel model = storage_model(trace, TimeNs::min(), own);
  CHECK(model.in_turns);
  CHECK(model.basis == Basis::kContention);
  CHECK(model.places == 1);
  REQUIRE(model.request);
  CHECK(model.request->milliseconds() == doctest::Approx(2).epsilon(0.02));
  CHECK(model.bytes_per_s == doctest::Approx(1e6 / 0.024).epsilon(0.02));
  // An open and a read, of its own threads alone.
  CHECK(model.requests_in_read == doctest::Approx(2));
  CHECK_FALSE(storage_model(trace, TimeNs::min()).in_turns);
}

TEST_CASE("storage: reads that only come evenly take no turns") {
  // Two workers half a batch apart, each with a storage of its own: no read overlaps another, and no open waits.
  test::TraceBuilder builder;
  for (int i = 0; i < 60; ++i) {
    const auto tid = static_cast<std::int32_t>(i % 2) + 2;
    const std::int64_t begin = 50'000'000LL * i;
    const std::int64_t opened = begin + 4'000'000;
    const std::int64_t end = opened + 40'000'000 + 100'000 * (i % 7);
    builder.range(tid, "read", begin, end, {.kind = trace::RangeKind::kRead, .bytes = kBytes});
    builder.io(tid, trace::IoOp::kOpen, "/data/a", begin, opened, 0);
    builder.io(tid, trace::IoOp::kRead, "/data/a", opened, end, kBytes);
  }
  const StorageModel model = storage_model(builder.load(), TimeNs::min());
  CHECK_FALSE(model.in_turns);
  CHECK_FALSE(model.limited());
}

}  // namespace headway::analyzer
