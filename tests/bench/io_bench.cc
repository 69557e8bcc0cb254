// SPDX-License-Identifier: MIT
// Cost of recording calls on files: ns per pread of 16 B, 4 KiB and 64 KiB from the page cache, hooked
// and not, in one process and in alternation, with `headway record --io` draining, for both clocks; and
// what open and close of a file and the start of a process cost more.
// Usage: headway_bench_io [--quick]
//
// A call of 16 B is summed, the others are recorded one by one; a burst fits the ring, which the
// recorder empties in between. A run in which anything was dropped is an error.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/statistics.h"
#include "trace/load/load.h"

namespace {

using Clock = std::chrono::steady_clock;
using Pread = ssize_t (*)(int, void*, size_t, off_t);
using Open = int (*)(const char*, int, ...);
using Close = int (*)(int);

// Short, so that a burst that something else interrupts is an outlier and not the rule.
constexpr int kCallsPerBurst = 50;
constexpr int kBurstsInARow = 16;
constexpr auto kBetweenBursts = std::chrono::milliseconds(25);

// ---- the measured process ------------------------------------------------------------------------

double burst_ns(int calls, const std::function<void(int)>& body) {
  auto start = Clock::now();
  for (int i = 0; i < calls; ++i) body(i);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / calls;
}

/// Prints ns per call of the C library's own function and of what the program's calls find.
int measure(const std::string& what, const std::string& path, int bursts) {
  void* libc = ::dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (!libc) return 1;
  auto plain_pread = reinterpret_cast<Pread>(::dlsym(libc, "pread"));
  auto plain_open = reinterpret_cast<Open>(::dlsym(libc, "open"));
  auto plain_close = reinterpret_cast<Close>(::dlsym(libc, "close"));
  int fd = ::open(path.c_str(), O_RDONLY);
  std::vector<char> buffer(1 << 20);
  // So that the process is recorded and its files are known before the first burst.
  if (::pread(fd, buffer.data(), buffer.size(), 0) != static_cast<ssize_t>(buffer.size())) return 1;
  bool files = what == "open";
  auto bytes = files ? std::size_t{0} : std::stoul(what);
  // Called through volatile pointers, as a program calls them through its linkage table.
  volatile Pread preads[2] = {plain_pread, &::pread};
  volatile Open opens[2] = {plain_open, static_cast<Open>(&::open)};
  volatile Close closes[2] = {plain_close, &::close};
  std::vector<double> times[2];
  for (int burst = 0; burst < bursts * kBurstsInARow; ++burst) {
    for (int which : {0, 1}) {
      double ns = burst_ns(kCallsPerBurst, [&, which](int i) {
        if (files) {
          closes[which](opens[which](path.c_str(), O_RDONLY));
        } else {
          preads[which](fd, buffer.data(), bytes, (i & 7) * 65'536);
        }
      });
      if (burst > 0) times[which].push_back(ns);
    }
    if (burst % kBurstsInARow == 0) std::this_thread::sleep_for(kBetweenBursts);
  }
  std::printf("%.3f %.3f\n", headway::median(times[0]), headway::median(times[1]));
  return 0;
}

// ---- the measuring process -----------------------------------------------------------------------

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

std::filesystem::path self() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string output;
  char buffer[256];
  while (std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, got);
  if (::pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return output;
}

struct Times {
  double plain = 0;
  double hooked = 0;
};

/// `clock` "": hooked, but nobody records.
Times run(const std::filesystem::path& folder, const std::string& clock, const std::string& what,
          int bursts) {
  std::string child =
      fmt::format("{} --measure {} {} {}", quoted(self()), what, quoted(folder / "data"), bursts);
  std::filesystem::path trace = folder / "run.sqlite";
  std::string output = output_of(
      clock.empty()
          ? fmt::format("LD_PRELOAD={} {}", quoted(self().parent_path() / "libheadway_io.so"),
                        child)
          : fmt::format("{} record --quiet --io --force --clock {} -o {} -- {}",
                        quoted(self().parent_path() / "headway"), clock, quoted(trace), child));
  Times times;
  if (std::sscanf(output.c_str(), "%lf %lf", &times.plain, &times.hooked) != 2)
    throw std::runtime_error("no figures: " + output);
  if (clock.empty()) return times;
  headway::trace::Trace loaded = headway::trace::load(trace);
  std::int64_t calls = 0;
  for (std::uint32_t count : loaded.io.calls) calls += count;
  if (calls < std::int64_t{kCallsPerBurst} * kBurstsInARow * bursts)
    throw std::runtime_error(fmt::format("only {} calls were recorded", calls));
  for (const headway::trace::LossCount& loss : loaded.losses) {
    if (loss.name == "ring_full") throw std::runtime_error("calls were dropped");
  }
  return times;
}

/// Median ns of starting a program that does nothing.
double start_ns(const std::string& environment, int repeats) {
  std::vector<double> times;
  std::string command =
      fmt::format("for i in 1 2 3 4 5 6 7 8 9 10; do {} /bin/true; done", environment);
  for (int i = 0; i < repeats; ++i) {
    auto start = Clock::now();
    output_of(command);
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / 10);
  }
  return headway::median(times);
}

void bench(const std::filesystem::path& folder, int repeats, int bursts) {
  std::FILE* file = std::fopen((folder / "data").c_str(), "wb");
  std::vector<char> content(1 << 20, 'x');
  if (!file || std::fwrite(content.data(), 1, content.size(), file) != content.size())
    throw std::runtime_error("cannot write the file to read");
  std::fclose(file);
  constexpr std::pair<const char*, const char*> kWhat[] = {{"pread_16_B", "16"},
                                                           {"pread_4_KiB", "4096"},
                                                           {"pread_64_KiB", "65536"},
                                                           {"open_close", "open"}};
  constexpr std::pair<const char*, const char*> kModes[] = {
      {"not_recorded", ""}, {"tsc", "tsc"}, {"realtime", "realtime"}};
  for (const auto& [name, what] : kWhat) {
    for (const auto& [mode, clock] : kModes) {
      std::vector<double> plain;
      std::vector<double> hooked;
      std::vector<double> cost;
      for (int i = 0; i < repeats; ++i) {
        Times times = run(folder, clock, what, bursts);
        plain.push_back(times.plain);
        hooked.push_back(times.hooked);
        cost.push_back(times.hooked - times.plain);
      }
      fmt::print("{}_{}: plain {:.1f} ns, hooked {:.1f} ns, cost {:.1f} ns, ratio {:.3f}\n", name,
                 mode, headway::median(plain), headway::median(hooked), headway::median(cost),
                 headway::median(hooked) / headway::median(plain));
      std::fflush(stdout);
    }
  }
  double plain = start_ns("", repeats * 4);
  double hooked = start_ns(
      fmt::format("LD_PRELOAD={}", quoted(self().parent_path() / "libheadway_io.so")), repeats * 4);
  fmt::print("start_of_a_process: plain {:.0f} us, preloaded {:.0f} us\n", plain / 1e3,
             hooked / 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 4 && arguments[0] == "--measure")
    return measure(arguments[1], arguments[2], std::stoi(arguments[3]));
  bool quick = arguments == std::vector<std::string>{"--quick"};
  if (!quick && !arguments.empty()) {
    fmt::print(stderr, "Usage: headway_bench_io [--quick]\n");
    return 2;
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "headway-bench-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return 4;
  int status = 0;
  try {
    bench(pattern, quick ? 1 : 5, quick ? 4 : 20);
  } catch (const std::exception& error) {
    fmt::print(stderr, "headway_bench_io: {}\n", error.what());
    status = 4;
  }
  std::error_code ignored;
  std::filesystem::remove_all(pattern, ignored);
  return status;
}
