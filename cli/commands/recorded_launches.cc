// SPDX-License-Identifier: MIT
#include "cli/commands/recorded_launches.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "analyzer/graph/graph.h"
#include "common/error.h"
#include "trace/load/load.h"

namespace headway::cli {
namespace {

/// A temporary folder; the destructor deletes it with its contents.
class Folder {
 public:
  Folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "headway-calibrate-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      fail_internal("{}: cannot create: {}", name, system_error_text(errno));
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Runs `headway record` in a process of its own, because recording changes signals and children of
/// its process.
void record_launches(const std::string& device, const std::string& trace) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const char* const arguments[] = {self.c_str(),    "record",       "--quiet",    "-o",
                                   trace.c_str(),   "--",           self.c_str(), "calibrate",
                                   "--launches-on", device.c_str(), nullptr};
  const pid_t child = ::fork();
  if (child < 0) fail_internal("fork: {}", system_error_text(errno));
  if (child == 0) {
    ::execv(self.c_str(), const_cast<char* const*>(arguments));
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail_internal("recording the launches failed with status {}",
                  WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace

void take_delays(const trace::Trace& trace, MeasuredDevice& device) {
  const analyzer::DependencyGraph graph(trace);
  const auto& devices = graph.calibration().devices;
  auto found = std::ranges::find(trace.devices, device.name, &trace::Device::name);
  using Of = std::pair<MachineFigure, analyzer::Delay analyzer::DeviceDelays::*>;
  for (const auto& [figure, member] :
       {Of{MachineFigure::kLaunch, &analyzer::DeviceDelays::launch},
        Of{MachineFigure::kKernelGap, &analyzer::DeviceDelays::stream},
        Of{MachineFigure::kSync, &analyzer::DeviceDelays::sync}}) {
    const analyzer::Delay* delay =
        found == trace.devices.end()
            ? nullptr
            : &(devices[static_cast<std::size_t>(found - trace.devices.begin())].*member);
    if (!delay || delay->samples == 0 || delay->p50.ns <= 0)
      device.absent.push_back({figure,
                               "the recording does not contain the launches: CUPTI is missing or "
                               "not permitted (`headway doctor`)"});
    else
      device.figures[figure] =
          FigureValue{static_cast<double>(delay->p5.ns), static_cast<double>(delay->p50.ns),
                      static_cast<double>(delay->p95.ns), delay->samples};
  }
}

void add_recorded_launches(MeasuredDevice& device) {
  try {
    const Folder folder;
    const std::string file = (folder.path() / "launches.sqlite").string();
    record_launches(device.name, file);
    take_delays(trace::load(file), device);
  } catch (const Error& error) {
    for (MachineFigure figure :
         {MachineFigure::kLaunch, MachineFigure::kKernelGap, MachineFigure::kSync})
      if (!device.figures[figure]) device.absent.push_back({figure, error.what()});
  }
}

}  // namespace headway::cli
