// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "collector/record/decode/io_rows.h"
#include "collector/record/rows/process_table.h"
#include "tests/collector/run_recorder.h"
#include "trace/load/load.h"

namespace headway::test {
namespace {

/// Runs a target without the recorder and under `record --io`, each in a fresh folder of the same
/// name, and checks that neither result nor output differ.
Recorded record_twice(const TemporaryFolder& folder, const std::string& kind, int status = 0) {
  std::filesystem::path files = folder / "files";
  auto make_fresh = [&] {
    std::filesystem::remove_all(files);
    std::filesystem::create_directory(files);
  };
  make_fresh();
  std::filesystem::path plain = folder / "plain.txt";
  std::string command = "'" + target("io_calls") + "' " + kind + " '" + files.string() + "' > '" +
                        plain.string() + "'";
  int result = std::system(command.c_str());
  REQUIRE(WIFEXITED(result));
  CHECK(WEXITSTATUS(result) == status);
  make_fresh();
  Recorded run;
  run.trace = folder / "run.sqlite";
  Recorder recorder({"--quiet", "--io", "-o", run.trace.string(), "--", target("io_calls"), kind,
                     files.string()});
  recorder.start();
  run.finished = recorder.wait();
  CHECK(run.finished.status == status);
  CHECK(run.finished.err == "");
  std::string expected;
  if (std::FILE* file = std::fopen(plain.c_str(), "r")) {
    char buffer[4096];
    while (std::size_t got = std::fread(buffer, 1, sizeof buffer, file))
      expected.append(buffer, got);
    std::fclose(file);
  }
  CHECK(run.finished.out == expected);
  CHECK(!expected.empty());
  return run;
}

std::int64_t io(const std::filesystem::path& trace, const std::string& what,
                const std::string& where = "1") {
  return number(trace, "SELECT " + what +
                           " FROM HEADWAY_IO i LEFT JOIN StringIds p ON p.id=i.pathId LEFT JOIN "
                           "StringIds n ON n.id=i.nameId WHERE " +
                           where);
}

}  // namespace

TEST_CASE("hooked calls return what they return without hooks, and are recorded with their bytes") {
  TemporaryFolder folder;
  Recorded run = record_twice(folder, "calls");
  auto bytes = [&](const std::string& function, const std::string& file) {
    return io(run.trace, "sum(bytes)",
              "calls=1 AND n.value='" + function + "' AND p.value LIKE '%/" + file + "'");
  };
  CHECK(bytes("__read_chk", "big") == 8192);
  CHECK(bytes("__pread_chk", "big") == 5000);
  CHECK(bytes("pread", "big") + bytes("pread64", "big") == 65'536 + 10'000);
  CHECK(io(run.trace, "min(offset)", "n.value='pread64'") > 0);
  CHECK(bytes("readv", "big") == 10'000);
  CHECK(bytes("preadv", "big") == 10'000);
  CHECK(bytes("preadv2", "big") == 10'000);
  CHECK(bytes("fread", "big") == 200'000 - 4 + 10'000);  // 4 came out of the buffer
  CHECK(bytes("sendfile", "big") == 50'000);
  CHECK(bytes("copy_file_range", "big") == 9000);
  CHECK(bytes("mmap", "big") == 8192);
  CHECK(bytes("writev", "copy") == 10'000);
  CHECK(io(run.trace, "count(*)", "op=5 AND p.value LIKE '%/copy'") == 2);
  // Stdio's own reads show as they come: by the bufferful.
  CHECK(bytes("fgets", "lines") > 20'000);
  CHECK(bytes("getline", "lines") + bytes("__getdelim", "lines") > 20'000);
  CHECK(io(run.trace, "count(*)", "n.value='fgets'") < 20);
  // Through dup and dup2 it is the same file.
  CHECK(io(run.trace, "count(*)",
           "n.value='read' AND bytes IN (6000, 7000) AND p.value LIKE '%/big'") == 2);
  CHECK(io(run.trace, "count(*)", "error=9 AND n.value='write'") == 1);
  CHECK(io(run.trace, "count(*)", "error=22 AND n.value='pread'") == 1);
  CHECK(io(run.trace, "count(*)", "end<start") == 0);
  CHECK(io(run.trace, "count(*)", "busy>end-start") == 0);
  CHECK(loss(run.trace, "ring_full") == 0);
  CHECK(loss(run.trace, "reentrant_event") == 0);
  CHECK(loss(run.trace, "shared_memory_corrupt") == 0);
}

TEST_CASE("files with odd names, deleted files, huge offsets and relative paths are told apart") {
  TemporaryFolder folder;
  Recorded run = record_twice(folder, "strange");
  CHECK(io(run.trace, "count(*)",
           "p.value LIKE '%a' || char(10) || 'b' || char(27) || '[31mc %' AND op=3") == 1);
  CHECK(io(run.trace, "max(length(p.value))", "op=3") > 3800);
  CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value LIKE '%/gone'") == 10'000);
  CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value LIKE '/%/warm' AND bytes=20000") == 20'000);
  CHECK(io(run.trace, "max(offset)", "op=3") == 10'000'000'000);
  CHECK(io(run.trace, "max(offset)", "op=4") == 11'000'000'000);
  CHECK(io(run.trace, "count(*)", "p.value LIKE '/proc/%'") == 0);
  CHECK(io(run.trace, "count(*)", "bytes=5000 AND op<>4") == 0);  // the pipe
}

TEST_CASE("a file system that refuses gives short writes and errors as ever") {
  TemporaryFolder folder;
  Recorded run = record_twice(folder, "full");
  CHECK(io(run.trace, "count(*)", "op=4 AND bytes=50000") == 1);
  CHECK(io(run.trace, "count(*)", "op=4 AND error=27") == 1);
}

TEST_CASE("signals interrupt calls as ever, and handlers may read files themselves") {
  TemporaryFolder folder;
  Recorded run = record_twice(folder, "signals");
  CHECK(io(run.trace, "sum(calls)", "op=3 AND bytes=5000") + loss(run.trace, "reentrant_event") +
            loss(run.trace, "ring_full") >=
        20'000);
}

TEST_CASE("a thread that is cancelled inside a hooked call is unwound") {
  TemporaryFolder folder;
  record_twice(folder, "cancel");
}

TEST_CASE("forked workers record on their own, short reads included, though they end with _exit") {
  TemporaryFolder folder;
  Recorded run = record_twice(folder, "workers");
  CHECK(io(run.trace, "count(DISTINCT globalTid>>24)", "op=3 AND p.value LIKE '%/worker_'") == 4);
  // The first read of each made it record.
  CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value LIKE '%/worker_'") == 4 * 180'000);
  CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value IS NULL") == 4 * 20'000);
  CHECK(io(run.trace, "sum(calls)", "op=3 AND p.value LIKE '%/tiny_'") == 4 * 25);
  CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value LIKE '%/tiny_'") == 4 * 25 * 100);
}

TEST_CASE("a child of vfork does not put its files behind its parent's descriptors") {
  TemporaryFolder folder;
  Recorded run = record_twice(folder, "vfork");
  CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value LIKE '%/parent'") == 30'000);
  CHECK(io(run.trace, "count(*)", "op=3 AND p.value LIKE '%/child'") == 0);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_PROCESS WHERE injected=1") == 1);
}

TEST_CASE("a program that closes all descriptors is followed through the numbers it uses again") {
  TemporaryFolder folder;
  Recorded run = record_twice(folder, "close-all");
  CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value LIKE '%/later'") == 5000);
  CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value LIKE '%/warm'") == 105'000);
}

TEST_CASE("a hundred threads record each read, and exec begins anew") {
  TemporaryFolder folder;
  for (const char* kind : {"threads", "exec"}) {
    Recorded run = record_twice(folder, kind);
    CHECK(io(run.trace, "sum(calls)", "op=3 AND p.value LIKE '%/files/t%'") == 100 * 20 * 6);
    CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value LIKE '%/files/t%'") == 100 * 20 * 8500);
    CHECK(io(run.trace, "count(DISTINCT globalTid)", "op=3 AND p.value LIKE '%/files/t%'") == 100);
    std::filesystem::remove(run.trace);
  }
}

TEST_CASE("a reader of tiny files is recorded once it has read many, and nothing is missing") {
  TemporaryFolder folder;
  Recorded run = record_twice(folder, "tiny");
  CHECK(io(run.trace, "sum(bytes)", "op=3") == 100'000);
  CHECK(io(run.trace, "sum(bytes)", "op=4 AND (p.value LIKE '%/f%' OR p.value IS NULL)") ==
        100'000);
  CHECK(io(run.trace, "sum(calls)", "op=3") == 2000);
  CHECK(io(run.trace, "count(DISTINCT pathId)", "op=3") == 1000);
  CHECK(io(run.trace, "count(*)", "op=3") < 1100);  // both reads of a file in one row
}

TEST_CASE("short reads that were only summed survive SIGKILL") {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "files");
  Recorded run =
      record(folder, {target("io_calls"), "killed", (folder / "files").string()}, {"--io"});
  CHECK(run.finished.status == 128 + 9);
  CHECK(io(run.trace, "sum(calls)", "op=3 AND bytes<100000") == 40);
  CHECK(io(run.trace, "sum(bytes)", "op=3 AND bytes<100000") == 40 * 100);
  CHECK(intact(run.trace));
}

TEST_CASE("pipelines of a shell work, and helpers that read little do not record") {
  TemporaryFolder folder;
  Recorded run = record(folder,
                        {"sh", "-c",
                         "cd '" + folder.path().string() +
                             "' && head -c 300000 /dev/zero > zeros && cat zeros | wc -c && (exec "
                             "3< zeros; head -c 5 "
                             "<&3 | od -c | head -n 1) && printf x > small && cat small && true"},
                        {"--io"});
  CHECK(run.finished.status == 0);
  CHECK(run.finished.err == "");
  CHECK(run.finished.out.find("300000\n") == 0);
  CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value LIKE '%/zeros'") +
            io(run.trace, "sum(bytes)", "op=3 AND p.value IS NULL") >=
        300'000 - 131'072);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_PROCESS WHERE injected=1") < 5);
}

TEST_CASE("what the user preloads stays, in front of ours, also from a folder with a space") {
  TemporaryFolder folder;
  std::filesystem::path programs = folder / "with space";
  std::filesystem::create_directory(programs);
  for (const char* name : {"headway", "libheadway_io.so", "libheadway_inject.so"})
    std::filesystem::copy(program(name), programs / name);
  std::string out = (folder / "out").string();
  // By its name: a path with a space cannot be preloaded, and this test may run in one.
  // A sanitizer in headway itself would insist on being first.
  std::string command = "ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=libm.so.6 '" +
                        (programs / "headway").string() + "' record --quiet --io -o '" +
                        (folder / "run.sqlite").string() +
                        "' -- sh -c 'echo \"$LD_PRELOAD\"; cat /bin/sh | wc -c' > '" + out +
                        "' 2>&1";
  CHECK(std::system(command.c_str()) == 0);
  std::FILE* file = std::fopen(out.c_str(), "r");
  REQUIRE(file != nullptr);
  char line[1024] = {};
  CHECK(std::fgets(line, sizeof line, file) == line);
  std::fclose(file);
  std::string preload = line;
  CHECK(preload.starts_with("libm.so.6:/"));
  CHECK(preload.find(' ') == std::string::npos);
  CHECK(preload.find("libheadway_io.so\n") != std::string::npos);
  CHECK(io(folder / "run.sqlite", "sum(bytes)", "op=3") > 50'000);
}

TEST_CASE("without --io nothing is preloaded and no call is recorded") {
  TemporaryFolder folder;
  Recorded run = record(folder, {"sh", "-c", "echo \"[$LD_PRELOAD]\"; cat /bin/sh > /dev/null"});
  CHECK(run.finished.out == "[]\n");
  CHECK(io(run.trace, "count(*)") == 0);
}

TEST_CASE("Python's reads are recorded with their paths, from workers of every start method") {
  TemporaryFolder folder;
  std::string script = (folder / "script.py").string();
  std::FILE* file = std::fopen(script.c_str(), "w");
  REQUIRE(file != nullptr);
  std::fputs(
      "import multiprocessing, sys\n"
      "def work(path):\n"
      "    with open(path, 'rb') as f:\n"
      "        return len(f.read())\n"
      "if __name__ == '__main__':\n"
      "    path, method = sys.argv[1:]\n"
      "    with open(path, 'wb') as f:\n"
      "        f.write(bytes(100000))\n"
      "    with multiprocessing.get_context(method).Pool(2) as pool:\n"
      "        print(sum(pool.map(work, [path] * 8)))\n"
      "        pool.close()\n"
      "        pool.join()\n",
      file);
  std::fclose(file);
  std::string data = (folder / "data.bin").string();
  for (const char* method : {"fork", "spawn", "forkserver"}) {
    CAPTURE(method);
    Recorded run = record(folder, {"python3", script, data, method}, {"--io", "--force"});
    CHECK(run.finished.status == 0);
    CHECK(run.finished.out == "800000\n");
    CHECK(run.finished.err == "");
    // A forked worker's first read makes it record, and has no path.
    CHECK(io(run.trace, "sum(bytes)", "op=3 AND p.value LIKE '%/data.bin'") >= 600'000);
    CHECK(io(run.trace, "sum(bytes)", "op=3 AND (p.value LIKE '%/data.bin' OR p.value IS NULL)") >=
          800'000);
    CHECK(io(run.trace, "sum(bytes)", "op=4 AND p.value LIKE '%/data.bin'") == 100'000);
  }
}

TEST_CASE("a program that takes LD_PRELOAD out of its environment is still recorded through NVTX") {
  TemporaryFolder folder;
  Recorded run = record(folder, {"env", "-u", "LD_PRELOAD", target("processes"), "fork"}, {"--io"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "parent") == 1);
  CHECK(ranges(run.trace, "child") == 1);
}

TEST_CASE("ranges and calls on files of one process come through one segment") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("processes"), "fork"}, {"--io"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "busy") == 200);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_PROCESS WHERE injected=1") == 3);
}

TEST_CASE("records of calls of any content become rows that load, or are refused") {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "any.sqlite";
  std::mt19937_64 random(3);
  int taken = 0;
  {
    record::TraceSink sink(path, false);
    record::DomainNumbers domains;
    record::Definitions definitions(record::global_pid(7), domains, sink);
    record::IoRows rows(record::global_pid(7), definitions, sink);
    for (int i = 0; i < 20'000; ++i) {
      // Half of them nearly right.
      bool wild = i % 2 == 0;
      wire::Record one{};
      wire::IoDetail detail{};
      one.time = random() % 1000;
      one.category =
          static_cast<std::uint16_t>(wild ? random() : random() % 7 | random() % 50 << 8);
      one.text = static_cast<std::uint32_t>(random());
      one.color = static_cast<std::uint32_t>(random());
      one.value = wild ? random() : random() % 100'000;
      detail.end = wild ? random() : random() % 1000;
      detail.offset = static_cast<std::int64_t>(random());
      detail.detail = random();
      detail.calls = static_cast<std::uint32_t>(wild ? random() : random() % 3);
      detail.error = static_cast<std::uint16_t>(random());
      TimeNs begin{static_cast<std::int64_t>(random() % 1'000'000)};
      TimeNs end{static_cast<std::int64_t>(random() % 1'000'000)};
      taken += rows.add(one, detail, {begin, end}, record::global_pid(7) | 8);
    }
    record::SegmentCounters counters;
    counters.pending_reads = random();
    counters.pending_writes = 5;
    rows.add_pending(counters, TimeNs{-5});
    sink.finish();
    CHECK(sink.failure() == "");
  }
  CHECK(taken > 1000);
  trace::Trace loaded = trace::load(path);
  CHECK(loaded.io.size() >= static_cast<std::size_t>(taken));
  for (std::size_t i = 0; i < loaded.io.size(); ++i) {
    REQUIRE(loaded.io.end[i] >= loaded.io.start[i]);
    REQUIRE(loaded.io.busy[i] <= loaded.io.end[i] - loaded.io.start[i]);
    REQUIRE(loaded.io.calls[i] >= 1);
  }
}

}  // namespace headway::test
