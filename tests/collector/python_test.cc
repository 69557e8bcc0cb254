// SPDX-License-Identifier: MIT
// A Python script with the `nvtx` package of PyPI, in a virtual environment of the build tree.
#include <doctest/doctest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "collector/record/messages/file_descriptor.h"
#include "tests/collector/run_recorder.h"

namespace headway::test {
namespace {

/// Python of an environment with the pinned package; empty when PyPI cannot be reached.
std::string python_with_nvtx() {
  std::filesystem::path folder = program("../python-nvtx");
  std::filesystem::path ready = folder / "ready";
  record::FileDescriptor lock(
      ::open(program("../python-nvtx.lock").c_str(), O_CREAT | O_RDWR, 0600));
  ::flock(lock.get(), LOCK_EX);
  if (!std::filesystem::exists(ready)) {
    std::filesystem::remove_all(folder);
    std::string quoted = "'" + folder.string() + "'";
    std::string requirements = "'" HEADWAY_SOURCE_DIR "/tests/collector/python_nvtx.txt'";
    // --require-hashes is implied by the hashes in the file.
    std::string command = "(python3 -m venv " + quoted + " && " + quoted +
                          "/bin/python -m pip install --quiet --disable-pip-version-check "
                          "--only-binary=:all: -r " +
                          requirements + ") >'" + program("../python-nvtx.log") + "' 2>&1";
    if (std::system(command.c_str()) != 0) return "";
    std::ofstream(ready) << "ready\n";
  }
  return (folder / "bin/python").string();
}

}  // namespace

TEST_CASE("a Python script that uses the nvtx package is recorded") {
  std::string python = python_with_nvtx();
  if (python.empty()) {
    MESSAGE(
        "[skipped] the nvtx package cannot be installed: see python-nvtx.log in the build tree");
    return;
  }
  TemporaryFolder folder;
  Recorded run = record(folder, {python, HEADWAY_SOURCE_DIR "/tests/targets/python_nvtx.py"});
  REQUIRE(run.finished.status == 3);
  CHECK(ranges(run.trace, "decorated") == 50);
  CHECK(ranges(run.trace, "with block") == 50);
  CHECK(ranges(run.trace, "between") == 1);
  CHECK(
      number(run.trace,
             "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id=textId WHERE eventType=34 AND "
             "value='a mark ä'") == 1);
  CHECK(
      number(run.trace,
             "SELECT count(*) FROM NVTX_EVENTS e JOIN NVTX_EVENTS c ON c.eventType=33 AND "
             "c.category=e.category AND c.domainId=e.domainId AND c.globalTid>>24=e.globalTid>>24 "
             "JOIN NVTX_EVENTS d ON d.eventType=75 AND d.domainId=e.domainId AND "
             "d.globalTid>>24=e.globalTid>>24 WHERE e.eventType=59 AND "
             "c.text='stages' AND d.text='python domain' AND e.color IS NOT NULL") == 50);
  // multiprocessing, with the start methods fork and spawn; workers end with os._exit.
  CHECK(ranges(run.trace, "in a fork worker") == 2);
  CHECK(ranges(run.trace, "in a spawn worker") == 2);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_PROCESS WHERE injected=1") >= 5);
  CHECK(intact(run.trace));
}

}  // namespace headway::test
