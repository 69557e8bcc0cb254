// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <fstream>
#include <set>

#include "tests/collector/run_recorder.h"

namespace headway::test {
namespace {

Finished run(std::vector<std::string> arguments, const std::filesystem::path& folder = {}) {
  Recorder recorder(std::move(arguments));
  if (!folder.empty()) recorder.in(folder);
  recorder.start();
  return recorder.wait();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool has_nothing(const std::filesystem::path& folder) {
  return std::filesystem::is_empty(folder);
}

}  // namespace

TEST_CASE("without -o the first free name in the folder is taken") {
  TemporaryFolder folder;
  std::filesystem::path work = folder / "work";
  std::filesystem::create_directory(work);
  for (const char* name : {"run.sqlite", "run-2.sqlite", "run-3.sqlite"}) {
    Finished finished = run({"--", "true"}, work);
    CHECK(finished.status == 0);
    CHECK(std::filesystem::exists(work / name));
    CHECK(contains(finished.err, std::string("next: headway report ") + name));
  }
}

TEST_CASE("a path with a space works, and the summary quotes it for the shell") {
  TemporaryFolder folder;
  std::string path = (folder / "my run.sqlite").string();
  Finished finished = run({"-o", path, "--", "true"});
  CHECK(finished.status == 0);
  CHECK(intact(path));
  CHECK(contains(finished.err, "next: headway report '" + path + "'"));
}

TEST_CASE("an existing file is kept unless --force is given, and a folder is refused") {
  TemporaryFolder folder;
  std::string path = (folder / "run.sqlite").string();
  std::ofstream(path) << "precious";
  Finished finished = run({"-o", path, "--", "true"});
  CHECK(finished.status == 2);
  CHECK(contains(finished.err, "already exists. Use --force"));
  CHECK(std::filesystem::file_size(path) == 8);
  CHECK(run({"-o", path, "--force", "--", "true"}).status == 0);
  CHECK(intact(path));
  finished = run({"-o", folder.path().string(), "--", "true"});
  CHECK(finished.status == 2);
  CHECK(contains(finished.err, "is a folder"));
}

TEST_CASE("--force keeps the old trace until the command runs") {
  TemporaryFolder folder;
  const std::filesystem::path path = folder / "run.sqlite";
  REQUIRE(run({"-o", path.string(), "--", "true"}).status == 0);
  std::ofstream(folder / "run.sqlite-wal") << "log";
  std::ofstream(folder / "script") << "#!/no/such/interpreter\n";
  ::chmod((folder / "script").c_str(), 0700);
  struct stat before {};
  REQUIRE(::stat(path.c_str(), &before) == 0);
  Finished finished = run({"-o", path.string(), "--force", "--", (folder / "script").string()});
  CHECK(finished.status == 126);
  struct stat after {};
  REQUIRE(::stat(path.c_str(), &after) == 0);
  CHECK(after.st_ino == before.st_ino);
  CHECK(std::filesystem::file_size(folder / "run.sqlite-wal") == 3);
  CHECK(run({"-o", path.string(), "--force", "--", "true"}).status == 0);
  CHECK(intact(path));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
    ++files;
  CHECK(files == 2);  // the trace and the script: nothing is left aside
}

TEST_CASE("passwords and tokens of a command line are not stored, unless that is asked for") {
  TemporaryFolder folder;
  const std::filesystem::path path = folder / "run.sqlite";
  auto stored = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"-o", path.string(), "--force"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    // The shell lives long enough to be seen from outside, too.
    for (const char* word : {"--", "sh", "-c", "sleep 0.3; exit 0", "x", "--password=hunter2",
                             "--token", "hunter2", "--epochs", "3"})
      arguments.emplace_back(word);
    REQUIRE(run(arguments).status == 0);
    std::ifstream in(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const std::string masked = stored({});
  CHECK_FALSE(contains(masked, "hunter2"));
  CHECK(contains(masked, "--password=***"));
  CHECK(contains(masked, "--epochs 3"));
  CHECK(contains(stored({"--keep-arguments"}), "--password=hunter2"));
}

TEST_CASE("a report is as private as its trace") {
  TemporaryFolder folder;
  const std::filesystem::path path = folder / "run.sqlite";
  REQUIRE(run({"-o", path.string(), "--", target("threads"), "2", "1"}).status == 0);
  ::umask(022);
  for (const char* name : {"a.html", "a.json", "a.md"}) {
    CAPTURE(name);
    Recorder report({});
    report.instead({program("headway"), "report", path.string(), "-o", (folder / name).string()});
    report.start();
    REQUIRE(report.wait().status == 0);
    struct stat info {};
    REQUIRE(::stat((folder / name).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
  }
}

TEST_CASE("a recording that still runs is called live, and cut once its recorder is dead") {
  TemporaryFolder folder;
  const std::filesystem::path path = folder / "run.sqlite";
  auto report = [&] {
    Recorder reading({});
    reading.instead({program("headway"), "report", path.string(), "--full"});
    reading.start();
    return reading.wait().out;
  };
  Recorder recorder({"--quiet", "-o", path.string(), "--", target("steps"), "15000", "1000"});
  recorder.start();
  REQUIRE(eventually([&] { return std::filesystem::exists(path); }));
  REQUIRE(eventually([&] { return contains(report(), "still running"); }));
  CHECK_FALSE(contains(report(), "was cut"));
  ::kill(recorder.pid(), SIGKILL);
  recorder.wait();
  CHECK(contains(report(), "The recording was cut"));
}

TEST_CASE("a recorder that is killed at any moment leaves nothing in the way of the next one") {
  TemporaryFolder folder;
  const std::filesystem::path path = folder / "run.sqlite";
  const std::string places = "TMPDIR=" + folder.path().string();
  for (int round = 0; round < 25; ++round) {
    CAPTURE(round);
    Recorder recorder({"--quiet", "-o", path.string(), "--", "true"});
    recorder.with(places).with("XDG_RUNTIME_DIR=").start();
    sleep_ms(round);
    ::kill(recorder.pid(), SIGKILL);
    recorder.wait();
    // There is no trace yet, or one that opens.
    if (std::filesystem::exists(path)) CHECK(intact(path));
    std::filesystem::remove(path);
    std::filesystem::remove(path.string() + "-wal");
    std::filesystem::remove(path.string() + "-shm");
  }
  // One that is killed before it listens leaves a folder without a socket: rare, so it is made here.
  std::filesystem::create_directory(folder / "headway-Ab3dEf");
  std::filesystem::permissions(folder / "headway-Ab3dEf", std::filesystem::perms::owner_all);
  // What they left is removed once it is old enough not to belong to one that begins.
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  std::ofstream(folder / "run.sqlite.new-00000001") << "x";
  std::ofstream(folder / "run.sqlite.tmp-00000001") << "x";
  std::ofstream(folder / "run.sqlite.old-00000001") << "somebody's trace";
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    std::filesystem::last_write_time(entry.path(), old);
  Recorder live({"--quiet", "-o", (folder / "live.sqlite").string(), "--", "sleep", "30"});
  live.with(places).with("XDG_RUNTIME_DIR=").start();
  REQUIRE(eventually([&] { return std::filesystem::exists(folder / "live.sqlite"); }));
  std::set<std::string> before;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.is_directory()) {
      before.insert(entry.path().filename().string());
      std::filesystem::last_write_time(entry.path(), old);
    }
  }
  REQUIRE(before.size() >= 1);
  Recorder next({"--quiet", "-o", path.string(), "--", "true"});
  next.with(places).with("XDG_RUNTIME_DIR=").start();
  CHECK(next.wait().status == 0);
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    folders += entry.is_directory();
  CHECK(folders == 1);  // that of the recorder that still runs
  CHECK_FALSE(std::filesystem::exists(folder / "run.sqlite.new-00000001"));
  CHECK_FALSE(std::filesystem::exists(folder / "run.sqlite.tmp-00000001"));
  CHECK(std::filesystem::exists(folder / "run.sqlite.old-00000001"));
  ::kill(live.pid(), SIGKILL);
  live.wait();
}

#ifndef __SANITIZE_ADDRESS__  // the check of undefined behaviour opens a pipe to look at a type
TEST_CASE("a recorder with few descriptors leaves the program unharmed and says what is missing") {
  for (const char* limit : {"12", "16", "24"}) {
    CAPTURE(limit);
    TemporaryFolder folder;
    const std::filesystem::path path = folder / "run.sqlite";
    Recorder recorder({});
    recorder.instead({"sh", "-c",
                      "ulimit -n " + std::string(limit) + "; exec '" + program("headway") +
                          "' record -o '" + path.string() + "' -- '" + target("threads") +
                          "' 2 1"});
    recorder.start();
    const Finished finished = recorder.wait();
    CAPTURE(finished.err);
    // One more that this process inherited, and the recorder cannot begin.
    if (finished.status == 4) {
      CHECK(contains(finished.err, "Raise `ulimit -n`"));
      continue;
    }
    CHECK(finished.status == 0);
    REQUIRE(intact(path));
    const bool recorded = ranges(path, "on a thread") == 20;
    CHECK((recorded || contains(finished.err, "Raise `ulimit -n`")));
    CHECK((recorded || !contains(finished.err, "nothing was lost")));
  }
}
#endif

TEST_CASE("--force replaces regular files only") {
  TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  const std::string link = (folder / "link").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::ofstream(folder / "precious") << "precious";
  std::filesystem::create_symlink("precious", link);
  for (const std::string& path : {pipe, link, std::string("/dev/null")}) {
    CAPTURE(path);
    const Finished finished = run({"-o", path, "--force", "--", "true"});
    CHECK(finished.status == 2);
    CHECK(contains(finished.err, path));
  }
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(std::filesystem::is_symlink(link));
  CHECK(std::filesystem::file_size(folder / "precious") == 8);
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a command that does not exist or cannot run ends like in a shell and leaves no file") {
  TemporaryFolder folder;
  std::filesystem::path work = folder / "work";
  std::filesystem::create_directory(work);
  Finished finished = run({"--", "no-such-command-anywhere"}, work);
  CHECK(finished.status == 127);
  CHECK(contains(finished.err, "no-such-command-anywhere: command not found"));
  finished = run({"--", "./missing"}, work);
  CHECK(finished.status == 127);
  finished = run({"--", "/etc/passwd"}, work);
  CHECK(finished.status == 126);
  CHECK(contains(finished.err, "chmod +x"));
  finished = run({"--", "/"}, work);
  CHECK(finished.status == 126);
  CHECK(has_nothing(work));

  std::ofstream(work / "train") << "#!/no/such/interpreter\n";
  ::chmod((work / "train").c_str(), 0700);
  finished = run({"--", "train"}, work);
  CHECK(finished.status == 127);
  CHECK(contains(finished.err, "Did you mean './train'?"));
  finished = run({"--", "./train"}, work);
  CHECK(finished.status == 126);
  CHECK(contains(finished.err, "interpreter in its first line is missing"));
  CHECK(!std::filesystem::exists(work / "run.sqlite"));
  std::ofstream(work / "train.py") << "print(1)\n";
  finished = run({"train.py"}, work);
  CHECK(finished.status == 127);
  CHECK(contains(finished.err, "Did you mean 'python3 train.py'?"));
}

TEST_CASE("a script without a first line runs as in a shell") {
  TemporaryFolder folder;
  std::ofstream(folder / "script") << "echo \"$1\"; exit 6\n";
  ::chmod((folder / "script").c_str(), 0700);
  Finished finished = run(
      {"-o", (folder / "run.sqlite").string(), "--", (folder / "script").string(), "an argument"});
  CHECK(finished.status == 6);
  CHECK(finished.out == "an argument\n");
}

TEST_CASE("wrong use is explained") {
  Finished finished = run({});
  CHECK(finished.status == 2);
  CHECK(contains(finished.err, "-- python3 train.py"));
  CHECK(run({"--clock", "sundial", "--", "true"}).status == 2);
  CHECK(run({"--sample-hz", "-1", "--", "true"}).status == 2);
  finished = run({"--no-such-option", "--", "true"});
  CHECK(finished.status == 2);
  CHECK(contains(finished.err, "'--no-such-option' is not an option"));
}

TEST_CASE("the command's own options stay the command's, with and without --") {
  TemporaryFolder folder;
  std::string path = (folder / "run.sqlite").string();
  CHECK(run({"--quiet", "-o", path, "echo", "--force", "-o", "x", "--", "y"}).out ==
        "--force -o x -- y\n");
  CHECK(run({"--quiet", "--force", "-o", path, "--", "echo", "--quiet", "--"}).out ==
        "--quiet --\n");
}

TEST_CASE("a folder that cannot be written to is refused before the command runs") {
  TemporaryFolder folder;
  std::filesystem::path locked = folder / "locked";
  std::filesystem::create_directory(locked);
  std::string output = (locked / "run.sqlite").string();
  std::string marker = (folder / "ran").string();
  // Root may write anywhere, so the folder is one where nobody can: a read-only mount, or none at all.
  bool mounted =
      ::geteuid() == 0 && ::mount("none", locked.c_str(), "tmpfs", MS_RDONLY, nullptr) == 0;
  if (::geteuid() != 0) ::chmod(locked.c_str(), 0500);
  if (!mounted && ::geteuid() == 0) output = "/proc/run.sqlite";
  Finished finished = run({"-o", output, "--", "touch", marker});
  CHECK(finished.status == 4);
  CHECK(contains(finished.err, output));
  CHECK(!std::filesystem::exists(marker));
  if (mounted) ::umount(locked.c_str());
}

TEST_CASE("a full disk stops the writing, not the command, and the file stays valid") {
  TemporaryFolder folder;
  std::filesystem::path small = folder / "small";
  std::filesystem::create_directory(small);
  if (::mount("none", small.c_str(), "tmpfs", 0, "size=3m") != 0) {
    MESSAGE("[skipped] mounting a small tmpfs is not permitted: " << std::strerror(errno));
    return;
  }
  std::string output = (small / "run.sqlite").string();
  Finished finished = run({"-o", output, "--", target("worker"), (folder / "side").string(), "1",
                           "1", "return", "100000"});
  CHECK(finished.status == 5);
  CHECK(contains(finished.err, "the disk is full"));
  CHECK(contains(finished.err, "disk_full"));
  CHECK(intact(output));
  CHECK(ranges(output, "slot 0") > 1000);
  // The counter itself needs room: it is in the file where a last checkpoint made some.
  std::int64_t counted = loss(output, "disk_full");
  CHECK((counted == 0 || counted > 1000));
  ::umount(small.c_str());
}

TEST_CASE("a trace that is removed while it is recorded is missed, also with --quiet") {
  TemporaryFolder folder;
  std::string place = (folder / "place").string();
  for (bool quiet : {false, true}) {
    std::filesystem::create_directory(place);
    std::vector<std::string> arguments = {
        "-o", place + "/run.sqlite", "--", "sh", "-c", "sleep 0.1; rm -r '" + place + "'; exit 6"};
    if (quiet) arguments.insert(arguments.begin(), "--quiet");
    Finished finished = run(arguments);
    CHECK(finished.status == 6);
    CHECK(contains(finished.err, "run.sqlite is gone: it was removed"));
    CHECK(!contains(finished.err, "next:"));
  }
}

TEST_CASE("where its remarks go nobody may be listening: the trace and the status are whole") {
  TemporaryFolder folder;
  for (std::string stream : {"2>&-", "2>/dev/full", ">&- 2>&- <&-"}) {
    std::string path = (folder / "run.sqlite").string();
    Recorder shell({"--quiet", "--force", "-o", (folder / "outer.sqlite").string(), "--", "sh",
                    "-c",
                    "'" + program("headway") + "' record --force -o '" + path + "' -- '" +
                        target("threads") + "' 2 1 " + stream});
    shell.start();
    CHECK(shell.wait().status == 0);
    CHECK(intact(path));
    CHECK(meta(path, "state") == "complete");
    CHECK(ranges(path, "on a thread") == 20);
  }
}

TEST_CASE("a limit on the size of files ends the writing, a limit on descriptors is told first") {
  TemporaryFolder folder;
  std::string path = (folder / "run.sqlite").string();
  std::string started = (folder / "started").string();
  auto under = [&](const std::string& limit) {
    Recorder shell({"--quiet", "--force", "-o", (folder / "outer.sqlite").string(), "--", "sh",
                    "-c",
                    limit + "; '" + program("headway") + "' record --force -o '" + path +
                        "' -- sh -c \"touch '" + started + "'; sleep 0.1; exit 6\""});
    shell.start();
    return shell.wait();
  };
  Finished finished = under("ulimit -f 200");  // of 512 bytes: room for the file as created
  CHECK(finished.status == 6);
  CHECK(contains(finished.err, "writing stopped early"));
  CHECK(intact(path));
  std::filesystem::remove(started);
  finished = under("ulimit -n 9");
  CHECK(finished.status != 0);  // 4, but the sanitizers need descriptors too and fail otherwise
  CHECK(!std::filesystem::exists(started));
}

TEST_CASE("recordings that begin in one folder at once each get a file") {
  TemporaryFolder folder;
  std::filesystem::path work = folder / "work";
  std::filesystem::create_directory(work);
  std::deque<Recorder> recorders;
  for (int i = 0; i < 8; ++i) recorders.emplace_back(std::vector<std::string>{"--", "true"});
  for (Recorder& recorder : recorders) recorder.in(work).start();
  for (Recorder& recorder : recorders) CHECK(recorder.wait().status == 0);
  CHECK(intact(work / "run.sqlite"));
  for (int i = 2; i <= 8; ++i) CHECK(intact(work / ("run-" + std::to_string(i) + ".sqlite")));
}

TEST_CASE("a program that uses no NVTX gives a trace of processes and counters, and a reason") {
  TemporaryFolder folder;
  std::string path = (folder / "run.sqlite").string();
  Finished finished = run({"-o", path, "--", "sleep", "0.6"});
  CHECK(finished.status == 0);
  CHECK(contains(finished.err, "the program does not use NVTX"));
  CHECK(number(path, "SELECT count(*) FROM HEADWAY_PROCESS WHERE commandLine='sleep 0.6'") == 1);
  CHECK(number(path, "SELECT count(*) FROM HEADWAY_COUNTER") > 10);
}

TEST_CASE("--nvtx off, --sample-hz 0 and --quiet do what they say") {
  TemporaryFolder folder;
  std::string path = (folder / "run.sqlite").string();
  Finished finished =
      run({"-o", path, "--nvtx", "off", "--sample-hz", "0", "--", target("threads"), "2", "1"});
  CHECK(finished.status == 0);
  CHECK(contains(finished.err, "NVTX was off"));
  CHECK(number(path, "SELECT count(*) FROM NVTX_EVENTS") == 0);
  CHECK(number(path, "SELECT count(*) FROM HEADWAY_COUNTER") == 0);
  finished = run({"-o", path, "--force", "--quiet", "--", target("threads"), "2", "1"});
  CHECK(finished.err.empty());
  CHECK(ranges(path, "on a thread") == 20);
}

TEST_CASE("another tool's injection is replaced for NVTX, kept for CUDA, and both are said") {
  TemporaryFolder folder;
  Recorder recorder({"-o", (folder / "run.sqlite").string(), "--", "sh", "-c",
                     "echo $NVTX_INJECTION64_PATH; echo $CUDA_INJECTION64_PATH"});
  recorder.with("NVTX_INJECTION64_PATH=/other/nvtx.so")
      .with("CUDA_INJECTION64_PATH=/other/cuda.so");
  recorder.start();
  Finished finished = recorder.wait();
  CHECK(finished.out == program("libheadway_inject.so") + "\n/other/cuda.so\n");
  CHECK(contains(finished.err, "NVTX_INJECTION64_PATH was set"));
  CHECK(contains(finished.err, "/other/cuda.so: it"));
}

TEST_CASE("secrets of the environment are not stored, settings that explain the run are") {
  TemporaryFolder folder;
  std::string path = (folder / "run.sqlite").string();
  Recorder recorder({"--quiet", "-o", path, "--", "true"});
  recorder.with("OMP_NUM_THREADS=3")
      .with("SLURM_JWT_TOKEN=hush")
      .with("MY_PASSWORD=hush")
      .with("NCCL_DEBUG=INFO")
      .with("RANK=7");
  recorder.start();
  recorder.wait();
  CHECK(meta(path, "env.OMP_NUM_THREADS") == "3");
  CHECK(meta(path, "env.NCCL_DEBUG") == "INFO");
  CHECK(meta(path, "env.RANK") == "7");
  CHECK(number(path, "SELECT count(*) FROM HEADWAY_META WHERE value LIKE '%hush%'") == 0);
  CHECK(number(path, "SELECT count(*) FROM META_DATA_CAPTURE WHERE value LIKE '%hush%'") == 0);
  CHECK(number(path, "SELECT count(*) FROM HEADWAY_META WHERE name='env.HEADWAY_SESSION'") == 0);
}

TEST_CASE("the session folder is private and gone afterwards") {
  TemporaryFolder folder;
  std::filesystem::path runtime = folder / "runtime";
  std::filesystem::create_directory(runtime);
  Recorder recorder({"--quiet", "-o", (folder / "run.sqlite").string(), "--", "sh", "-c",
                     "stat -c %a \"$(dirname \"$HEADWAY_SESSION\")\"; echo $HEADWAY_SESSION"});
  recorder.with("XDG_RUNTIME_DIR=" + runtime.string());
  recorder.start();
  Finished finished = recorder.wait();
  CHECK(finished.out.starts_with("700\n" + runtime.string() + "/headway-"));
  CHECK(has_nothing(runtime));
}

TEST_CASE("a runtime folder that is missing or too long for a socket is passed over") {
  TemporaryFolder folder;
  std::filesystem::path deep = folder / std::string(120, 'd');
  std::filesystem::create_directory(deep);
  for (const std::string& value : {deep.string(), std::string("/no/such/folder")}) {
    Recorder recorder({"--quiet", "--force", "-o", (folder / "run.sqlite").string(), "--",
                       target("threads"), "2", "1"});
    recorder.with("XDG_RUNTIME_DIR=" + value).with("TMPDIR=" + value);
    recorder.start();
    CHECK(recorder.wait().status == 0);
    CHECK(ranges(folder / "run.sqlite", "on a thread") == 20);
  }
}

TEST_CASE("nohup, pipes that break and ignored signals reach the command as they were") {
  TemporaryFolder folder;
  Finished finished = run({"--quiet", "-o", (folder / "run.sqlite").string(), "--", "sh", "-c",
                           "grep -E 'SigBlk|SigIgn' /proc/self/status"});
  Recorder plain({"--quiet", "--force", "-o", (folder / "run.sqlite").string(), "--", "sh", "-c",
                  "trap '' HUP; exec '" + program("headway") + "' record --quiet --force -o '" +
                      (folder / "inner.sqlite").string() + "' -- grep SigIgn /proc/self/status"});
  CHECK(contains(finished.out, "SigBlk:\t0000000000000000"));
  CHECK(contains(finished.out, "SigIgn:\t0000000000000000"));
  plain.start();
  CHECK(contains(plain.wait().out, "SigIgn:\t0000000000000001"));
}

TEST_CASE("a signal that was ignored at the start is no wish to end") {
  TemporaryFolder folder;
  std::string path = (folder / "run.sqlite").string();
  std::string started = (folder / "started").string();
  Recorder recorder(
      {"--quiet", "-o", path, "--", "sh", "-c", "touch '" + started + "'; sleep 0.9"});
  recorder.ignoring(SIGINT).start();
  REQUIRE(eventually([&] { return std::filesystem::exists(started); }));
  ::kill(recorder.pid(), SIGINT);
  sleep_ms(300);
  ::kill(recorder.pid(), SIGINT);
  CHECK(recorder.wait().status == 0);
  CHECK(meta(path, "interrupted") == "");
  CHECK(meta(path, "exit_code") == "0");
}

}  // namespace headway::test
