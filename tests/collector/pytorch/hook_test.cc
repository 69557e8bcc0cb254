// SPDX-License-Identifier: MIT
// How the hook gets into Python programs, and how it stays out of their way.
#include <doctest/doctest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "tests/collector/pytorch/pytorch_run.h"

namespace headway::test {
namespace {

Finished record_python(const std::vector<std::string>& arguments,
                       const std::string& variable = "X=") {
  TemporaryFolder folder;
  std::vector<std::string> all = {"--pytorch", "-o", (folder / "run.sqlite").string(), "--",
                                  "/usr/bin/python3"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  Recorder recorder(all);
  recorder.with(variable).start();
  return recorder.wait();
}

constexpr const char* kNoReport = "--pytorch: no process reported the hook";

}  // namespace

TEST_CASE("the user's own sitecustomize still runs, under its name") {
  TemporaryFolder folder;
  std::ofstream(folder / "sitecustomize.py") << "print('theirs', __name__)\n";
  std::string here = "PYTHONPATH=" + folder.path().string();
  Finished finished =
      record_python({"-c", "import sitecustomize; print(sitecustomize.__file__)"}, here);
  CHECK(finished.status == 0);
  CHECK(finished.out == "theirs sitecustomize\n" + (folder / "sitecustomize.py").string() + "\n");
  CHECK(finished.err.find(kNoReport) != std::string::npos);
}

TEST_CASE("an error in the user's sitecustomize is told as without the hook") {
  TemporaryFolder folder;
  std::ofstream(folder / "sitecustomize.py") << "raise ValueError('theirs')\n";
  Finished finished = record_python({"-c", "print(1)"}, "PYTHONPATH=" + folder.path().string());
  CHECK(finished.out == "1\n");
  CHECK(finished.err.find("Error in sitecustomize") != std::string::npos);
  CHECK(finished.err.find("ValueError: theirs") != std::string::npos);
}

TEST_CASE("Python that runs no site code, or ignores the environment, runs without the hook") {
  for (const char* option : {"-S", "-I", "-E"}) {
    CAPTURE(option);
    Finished finished = record_python({option, "-c", "print(1)"});
    CHECK(finished.status == 0);
    CHECK(finished.out == "1\n");
    CHECK(finished.err.find(kNoReport) != std::string::npos);
  }
}

TEST_CASE("the module of the hook loads where the C library is 2.34: wheels promise that") {
  const auto module = std::filesystem::path(program("headway")).parent_path() / "headway-pytorch" /
                      "_headway_nvtx.abi3.so";
  std::ifstream file(module, std::ios::binary);
  REQUIRE(file);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  constexpr std::string_view kVersion = "GLIBC_2.";
  int newest = 0;
  for (std::size_t at = bytes.find(kVersion); at != std::string::npos;
       at = bytes.find(kVersion, at + 1)) {
    int minor = 0;
    const char* text = bytes.data() + at + kVersion.size();
    std::from_chars(text, bytes.data() + bytes.size(), minor);
    newest = std::max(newest, minor);
  }
  CHECK(newest > 0);
  CHECK(newest <= 34);
}

TEST_CASE("a Python program that never imports torch loads nothing of Headway") {
  Finished finished = record_python(
      {"-c",
       "import sys, json, decimal\n"
       "print([m for m in sys.modules if 'headway' in m], any('headway' in line for line in "
       "open('/proc/self/maps')))"});
  CHECK(finished.out == "[] False\n");
}

TEST_CASE("modules look as they do without the hook: their loaders, their specifications") {
  HEADWAY_NEEDS_TORCH();
  std::vector<std::string> look = {
      "-c",
      "import sys, torch\n"
      "print(torch.__loader__.__class__, torch.__spec__.loader is torch.__loader__, "
      "torch.__file__)\n"
      "import importlib.util\n"
      "print([importlib.util.find_spec(name) for name in ('cv2', 'nothing_of_that_name')])"};
  std::vector<std::string> alone = {"/usr/bin/python3"};
  alone.insert(alone.end(), look.begin(), look.end());
  CHECK(record_python(look).out == run_alone(alone).out);
}

TEST_CASE("a program that looks whether torch is installed before it imports it is recorded") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  Recorded run = record(folder,
                        {python_with_torch(), "-W", "ignore", "-c",
                         "import copy, importlib.util\n"
                         "found = importlib.util.find_spec('torch')\n"
                         "assert copy.copy(found).loader.get_filename('torch') == found.origin\n"
                         "import torch, torch.utils.data\n"
                         "net = torch.nn.Linear(2, 2)\n"
                         "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                         "for x in torch.utils.data.DataLoader([torch.ones(2)] * 6):\n"
                         "    net(x).sum().backward()\n"
                         "    optimizer.step()\n"},
                        {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.err.find(kNoReport) == std::string::npos);
  CHECK(ranges_of_kind(run.trace, 1) == 6);
  CHECK(ranges_of_kind(run.trace, 2, "s.value='backward'") == 6);
}

TEST_CASE("--pytorch refuses what cannot work, and names the remedy") {
  TemporaryFolder folder;
  auto refused = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all = options;
    all.insert(all.end(), {"-o", (folder / "run.sqlite").string(), "--", "true"});
    Recorder recorder(all);
    recorder.start();
    Finished finished = recorder.wait();
    CHECK(finished.status == 2);
    CHECK(!std::filesystem::exists(folder / "run.sqlite"));
    return finished.err;
  };
  CHECK(refused({"--pytorch", "--nvtx", "off"}).find("--nvtx off") != std::string::npos);
  CHECK(refused({"--pytorch=deep"}).find("ops") != std::string::npos);
}

}  // namespace headway::test
