// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <map>
#include <set>

#include "collector/doctor/check.h"
#include "collector/doctor/checks.h"
#include "collector/doctor/python_checks.h"
#include "tests/collector/doctor/made_up_system.h"

namespace headway::doctor {
namespace {

using test::Environment;
using test::MadeUp;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

void add_gpu(MadeUp& system) {
  system.write("/proc/driver/nvidia/gpus/0000:01:00.0/information",
               "Model: \t\t NVIDIA H200\nIRQ: 1");
  system.libraries["libcuda.so.1"] = 13000;
}

}  // namespace

TEST_CASE("doctor: every warning and problem says what to do") {
  MadeUp bare;
  MadeUp gpu(Environment{{"NCCL_P2P_DISABLE", "1"}, {"CUDA_INJECTION64_PATH", "/opt/other.so"}});
  add_gpu(gpu);
  gpu.libraries["libcuda.so.1"] = 11080;
  std::set<std::string_view> ids;
  for (const MadeUp* system : {&bare, &gpu}) {
    for (const Checked& result : run_checks(*system)) {
      CAPTURE(result.check->id);
      bool asks =
          result.finding.status == Status::kWarning || result.finding.status == Status::kProblem;
      CHECK(asks == !result.finding.remedy.empty());
      CHECK(!result.finding.text.empty());
      ids.insert(result.check->id);
    }
  }
  CHECK(ids.size() == all_checks().size());
}

TEST_CASE("doctor: without a GPU nothing about CUDA is a problem") {
  MadeUp system;
  for (auto check : {check_driver, check_devices, check_cupti, check_counters, check_rdma})
    CHECK(check(system).status == Status::kNote);
}

TEST_CASE("doctor: the driver is told by its version, and a container without it by its absence") {
  MadeUp system;
  add_gpu(system);
  CHECK(check_driver(system).text == "CUDA 13.0");
  CHECK(check_devices(system).text == "1 x NVIDIA H200");
  system.libraries["libcuda.so.1"] = 11080;
  CHECK(check_driver(system).status == Status::kProblem);
  system.libraries.clear();
  CHECK(check_driver(system).status == Status::kProblem);
  CHECK(check_driver(system).remedy.find("--gpus all") != std::string::npos);
}

TEST_CASE("doctor: CUPTI that is missing beside a GPU, or too old, is told") {
  MadeUp system;
  add_gpu(system);
  CHECK(check_cupti(system).status == Status::kWarning);
  system.libraries["libcupti.so.12"] = 18;
  CHECK(check_cupti(system).status == Status::kProblem);
  system.libraries["libcupti.so.13"] = 130001;
  CHECK(check_cupti(system).status == Status::kOk);
}

TEST_CASE("doctor: another tool in the way is named") {
  MadeUp system(Environment{{"NVTX_INJECTION64_PATH", "/opt/nsys/lib.so"}});
  CHECK(check_nvtx(system).status == Status::kWarning);
  CHECK(check_other_profilers(system).status == Status::kOk);
  system.write("/proc/77/comm", "nsys");
  Finding finding = check_other_profilers(system);
  CHECK(finding.status == Status::kWarning);
  CHECK(finding.text == "nsys runs (process 77)");
}

TEST_CASE("doctor: limits that leave no room for the shared memory are told apart") {
  MadeUp system;
  CHECK(check_shared_memory(system).status == Status::kOk);
  system.limits[RLIMIT_AS] = 4 * kGiB;
  CHECK(check_shared_memory(system).status == Status::kWarning);
  system.limits[RLIMIT_AS] = 1 << 20;
  CHECK(check_shared_memory(system).status == Status::kProblem);
  system.limits.clear();
  system.limits[RLIMIT_FSIZE] = 1 << 20;
  CHECK(check_shared_memory(system).status == Status::kProblem);
}

TEST_CASE("doctor: a container's share of the processors, its memory and its /dev/shm") {
  MadeUp system;
  system.write("/proc/self/cgroup", "0::/job");
  system.write("/sys/fs/cgroup/job/cpu.max", "50000 100000");
  CHECK(check_processors(system).status == Status::kWarning);
  CHECK(check_processors(system).text.find("0.5") != std::string::npos);
  system.write("/sys/fs/cgroup/job/memory.max", "1073741824");
  CHECK(check_memory_limit(system).status == Status::kWarning);
  system.write("/sys/fs/cgroup/job/memory.max", "max");
  CHECK(check_memory_limit(system).status == Status::kOk);
  CHECK(check_dev_shm(system).status == Status::kWarning);
  system.spaces["/dev/shm"] = {64 << 20, 64 << 20, 0};
  CHECK(check_dev_shm(system).remedy.find("--shm-size") != std::string::npos);
  system.spaces["/dev/shm"] = {16 * kGiB, 16 * kGiB, 0};
  CHECK(check_dev_shm(system).status == Status::kOk);
}

TEST_CASE("doctor: storage over the network and a full disk are told") {
  MadeUp system;
  system.spaces[""] = {kGiB * 100, kGiB * 50, 0xef53};
  CHECK(check_storage(system).status == Status::kOk);
  CHECK(check_output(system).status == Status::kOk);
  system.spaces[""] = {kGiB * 100, kGiB, 0x6969};
  CHECK(check_storage(system).status == Status::kWarning);
  CHECK(check_output(system).status == Status::kWarning);
}

TEST_CASE("doctor: settings left over from debugging are named with what they do") {
  MadeUp system(Environment{{"NCCL_P2P_DISABLE", "1"},
                            {"CUDA_LAUNCH_BLOCKING", "1"},
                            {"NCCL_DEBUG", "WARN"},
                            {"NVIDIA_TF32_OVERRIDE", "0"}});
  Finding finding = check_nccl(system);
  CHECK(finding.status == Status::kWarning);
  CHECK(finding.text.find("NCCL_P2P_DISABLE=1") != std::string::npos);
  CHECK(finding.text.find("NVIDIA_TF32_OVERRIDE=0") != std::string::npos);
  CHECK(finding.text.find("CUDA_LAUNCH_BLOCKING=1") != std::string::npos);
  CHECK(finding.text.find("NCCL_DEBUG") == std::string::npos);
}

TEST_CASE("doctor: this machine can be looked at") {
  System system;
  for (const Checked& result : run_checks(system)) {
    CAPTURE(result.check->id);
    CHECK(!result.finding.text.empty());
  }
}

TEST_CASE("doctor: what a Python answers is told, whatever else it prints") {
  const auto judged = [](const std::string& members) {
    return judge_python("python3",
                        "hello from sitecustomize\nheadway-doctor {\"version\": [3, 11, 2], "
                        "\"executable\": \"/usr/bin/python3\", " +
                            members + "}\nbye\n",
                        "");
  };
  const std::string loads = R"("module": "loads", "waits": true)";
  const auto good = judged(
      loads + R"(, "site": null, "cuda": "13.0", "packages": {"torch": "2.15.0", "jax": "0.9"})");
  REQUIRE(good.size() == 4);
  CHECK(good[0].finding.text == "3.11.2, /usr/bin/python3");
  CHECK(good[1].finding.status == Status::kOk);
  CHECK(good[2].finding.text == "2.15.0, built for CUDA 13.0");
  CHECK(good[3].finding.text == "jax 0.9");
  const auto bare = judged(loads + R"(, "site": "/home/me/sitecustomize.py", "packages": {})");
  REQUIRE(bare.size() == 5);
  CHECK(bare[2].finding.text == "/home/me/sitecustomize.py runs as without Headway");
  CHECK(bare[3].finding.text == "not installed in this Python");
  CHECK(judged(R"("module": "version `GLIBC_2.34' not found", "waits": true)")[1].finding.status ==
        Status::kProblem);
  CHECK(judged(R"("module": "loads", "waits": false)")[1].finding.status == Status::kWarning);
}

TEST_CASE("doctor: a Python that is too old, does not start or does not answer is a problem") {
  const auto old =
      judge_python("p", "headway-doctor {\"version\": [3, 6, 9], \"module\": \"loads\"}\n", "");
  CHECK(old[1].finding.status == Status::kProblem);
  CHECK(old[1].finding.text == "needs Python 3.8 or newer");
  for (const char* out :
       {"", "headway-doctor {\n", "headway-doctor 7\n", "no JSON\n", "headway-doctor {}\n",
        "headway-doctor {\"version\": [3]}\n", "headway-doctor {\"version\": [\"a\", 1]}\n",
        "headway-doctor {\"version\": [3, 9], \"module\": 7, \"packages\": []}\n"}) {
    const auto none = judge_python("p", out, "it ended with status 3");
    REQUIRE(none.size() == 1);
    CHECK(none[0].finding.status == Status::kProblem);
    CHECK(none[0].finding.text.starts_with("p: it ended with status 3"));
  }
}

}  // namespace headway::doctor
