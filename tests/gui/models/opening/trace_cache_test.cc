// SPDX-License-Identifier: MIT
#include "gui/models/opening/trace_cache.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "gui/models/opening/session.h"
#include "tests/gui/support/sessions.h"
#include "tests/support/compare_traces.h"
#include "trace/load/load.h"

namespace headway::gui {
namespace {

namespace fs = std::filesystem;

constexpr TraceCache::Limits kAnySize{
    .most_bytes = 1'000'000'000, .spare_bytes = 0, .least_events = 0};

struct Kept {
  fs::path file = test::training_file();
  trace::Trace trace = trace::load(file);
  trace::SnapshotKey key = *trace::snapshot_key(file);
  test::TemporaryFolder folder;
  fs::path place = folder / "cache of mine";
  TraceCache cache{place, kAnySize};

  trace::SnapshotKey other(const std::string& name) {
    fs::copy_file(file, folder / name, fs::copy_options::overwrite_existing);
    return *trace::snapshot_key(folder / name);
  }
};

}  // namespace

TEST_CASE("a cached trace is found again, in a private folder") {
  Kept k;
  std::string why_not;
  CHECK(!k.cache.load(k.key, why_not));
  CHECK(why_not.empty());
  REQUIRE(k.cache.store(k.trace, k.key, {}));
  std::optional<trace::Trace> back = k.cache.load(k.key, why_not);
  REQUIRE(back);
  CHECK(test::differences(k.trace, *back).empty());
  CHECK((fs::status(k.place).permissions() & fs::perms::group_all) == fs::perms::none);
}

TEST_CASE("a trace changed since it was read is neither stored nor loaded") {
  Kept k;
  trace::SnapshotKey key = k.other("copy.sqlite");
  REQUIRE(k.cache.store(k.trace, key, {}));
  std::ofstream(key.path, std::ios::app) << "more";
  CHECK(!k.cache.store(k.trace, key, {}));
  std::string why_not;
  CHECK(!k.cache.load(*trace::snapshot_key(key.path), why_not));
  CHECK(why_not.empty());
}

TEST_CASE("a full cache drops the least recently used trace first") {
  Kept k;
  std::vector<trace::SnapshotKey> keys;
  for (const char* name : {"a.sqlite", "b.sqlite", "c.sqlite"}) keys.push_back(k.other(name));
  REQUIRE(k.cache.store(k.trace, keys[0], {}));
  auto one = static_cast<std::int64_t>(fs::file_size(k.cache.file_of(keys[0])));
  // Room for two, and for half of the third's estimate.
  TraceCache small(k.place, {.most_bytes = trace::snapshot_bytes(k.trace) + one + one / 2,
                             .spare_bytes = 0,
                             .least_events = 0});
  const fs::file_time_type now = fs::file_time_type::clock::now();
  REQUIRE(small.store(k.trace, keys[1], {}));
  fs::last_write_time(small.file_of(keys[0]), now - std::chrono::minutes(2));
  fs::last_write_time(small.file_of(keys[1]), now - std::chrono::minutes(1));
  std::string why_not;
  CHECK(small.load(keys[0], why_not));  // used: now the other one is the older
  REQUIRE(small.store(k.trace, keys[2], {}));
  CHECK(fs::exists(small.file_of(keys[0])));
  CHECK(!fs::exists(small.file_of(keys[1])));
  CHECK(fs::exists(small.file_of(keys[2])));
}

TEST_CASE("small traces and full disks are not cached") {
  Kept k;
  CHECK(!TraceCache(k.place).store(k.trace, k.key, {}));  // small
  TraceCache full(
      k.place,
      {.most_bytes = kAnySize.most_bytes, .spare_bytes = std::int64_t{1} << 60, .least_events = 0});
  CHECK(!full.store(k.trace, k.key, {}));
  TraceCache tiny(k.place, {.most_bytes = 100, .spare_bytes = 0, .least_events = 0});
  CHECK(!tiny.store(k.trace, k.key, {}));
  CHECK(!TraceCache("/proc/no/such/place", kAnySize).store(k.trace, k.key, {}));
  CHECK(!TraceCache(fs::path(), kAnySize).store(k.trace, k.key, {}));
  CHECK(!fs::exists(k.cache.file_of(k.key)));
}

TEST_CASE("leftovers of an interrupted writer are deleted after an hour") {
  Kept k;
  fs::create_directories(k.place);
  fs::path left = k.place / "0123456789abcdef.snapshot.tmp-1234abcd";
  fs::path fresh = k.place / "1123456789abcdef.snapshot.tmp-1234abcd";
  fs::path foreign = k.place / "notes.txt";
  for (const fs::path& path : {left, fresh, foreign}) std::ofstream(path) << "x";
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::last_write_time(foreign, fs::file_time_type::clock::now() - std::chrono::hours(2));
  REQUIRE(k.cache.store(k.trace, k.key, {}));
  CHECK(!fs::exists(left));
  CHECK(fs::exists(fresh));
  CHECK(fs::exists(foreign));
}

TEST_CASE("a damaged cache is deleted and the trace opens from its file") {
  Kept k;
  TraceSource source;
  source.files = {k.file};
  source.cache_folder = k.place;
  REQUIRE(k.cache.store(k.trace, k.key, {}));
  ReadTrace cached = read_source(source, {});
  CHECK(cached.from_cache);
  CHECK(!cached.keep_as);
  CHECK(test::differences(k.trace, cached.trace).empty());
  {
    std::fstream file(k.cache.file_of(k.key), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20);
    file << "damage";
  }
  ReadTrace read = read_source(source, {});
  CHECK(!read.from_cache);
  CHECK(read.keep_as == k.key);
  CHECK(!fs::exists(k.cache.file_of(k.key)));
  CHECK(std::any_of(read.trace.losses.begin(), read.trace.losses.end(),
                    [](const auto& loss) { return loss.name == "cache_damaged"; }));
}

TEST_CASE("a hostile cache opens as a valid trace or not at all") {
  Kept k;
  REQUIRE(k.cache.store(k.trace, k.key, {}));
  std::ifstream in(k.cache.file_of(k.key), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  std::mt19937_64 random(11);
  int opened = 0;
  for (int round = 0; round < 60; ++round) {
    std::string changed = whole;
    for (int i = 0; i < 4; ++i)
      changed[4096 + random() % (whole.size() - 4096)] = static_cast<char>(random());
    std::ofstream(k.cache.file_of(k.key), std::ios::binary | std::ios::trunc) << changed;
    std::string why_not;
    if (auto trace = k.cache.load(k.key, why_not)) {
      CHECK(make_session(std::move(*trace))->timeline.rows.size() > 0);
      ++opened;
    }
  }
  MESSAGE(opened, " of 60 opened");
}

TEST_CASE("the cache lies in the user's cache folder and never beside the trace") {
  const char* home = std::getenv("HOME");
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  std::string old_home = home ? home : "";
  std::string old_xdg = xdg ? xdg : "";
  ::setenv("HOME", "/home/somebody", 1);
  ::setenv("XDG_CACHE_HOME", "/fast/cache", 1);
  CHECK(TraceCache::default_folder() == "/fast/cache/headway");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  CHECK(TraceCache::default_folder() == "/home/somebody/.cache/headway");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  CHECK(TraceCache::default_folder().empty());
  if (home) ::setenv("HOME", old_home.c_str(), 1);
  if (xdg) ::setenv("XDG_CACHE_HOME", old_xdg.c_str(), 1);
}

}  // namespace headway::gui
