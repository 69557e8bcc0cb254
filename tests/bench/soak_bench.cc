// SPDX-License-Identifier: MIT
// A long load on the recorder, and what a program pays when the recorder does not keep up.
// Usage: headway_bench_soak [--quick] [--records N] [--rate N] [--ring SECONDS]
//
//   1. N records (default 1e9) at a rate (default 1e6 a second) from two threads into `headway record
//      --ring`, which decodes all and stores the last seconds: rate, drops, processor time and memory of
//      the recorder while it runs, size of the file.
//   2. 100 000 events a second, all stored: what the recorder uses, in percent of one core.
//   3. Cost of a pair to the program: recorded; with the recorder stopped and the ring full; after the
//      recording has ended (--duration).
#include <fcntl.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/statistics.h"
#include "trace/load/load.h"
#include "trace/meta_keys.h"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// ---- the recorded process ------------------------------------------------------------------------

struct Pair {
  Pair() {
    domain = nvtxDomainCreateA("soak");
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "soak");
  }
  void make() const {
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
  nvtxDomainHandle_t domain;
  nvtxEventAttributes_t event{};
};

/// `records` in all, `rate` a second, from all threads together.
int produce(int threads, double rate, std::int64_t records) {
  const Pair pair;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      constexpr nanoseconds kPeriod{1'000'000};
      const double pairs_a_period = rate / 2 / threads / 1000;
      const std::int64_t pairs = records / 2 / threads;
      double due = 0;
      std::int64_t made = 0;
      for (auto next = Clock::now(); made < pairs;) {
        due += pairs_a_period;
        const std::int64_t until = std::min(static_cast<std::int64_t>(due), pairs);
        for (; made < until; ++made) pair.make();
        next += kPeriod;
        // A thread that had no processor for long goes on as before: it does not make up for it in
        // one burst, as no program does.
        if (Clock::now() - next > 10 * kPeriod) next = Clock::now();
        std::this_thread::sleep_until(next);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  return 0;
}

/// Prints the cost of a pair, burst after burst, with the time since the start, until it is killed.
int measure() {
  const Pair pair;
  constexpr int kPairs = 2000;
  const auto start = Clock::now();
  for (;;) {
    const auto before = Clock::now();
    for (int i = 0; i < kPairs; ++i) pair.make();
    const auto after = Clock::now();
    std::printf("%.3f %.2f\n", std::chrono::duration<double>(after - start).count(),
                std::chrono::duration<double, std::nano>(after - before).count() / kPairs);
    std::fflush(stdout);
    std::this_thread::sleep_for(milliseconds(10));
  }
}

// ---- the measuring process -----------------------------------------------------------------------

std::filesystem::path self() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

/// `headway record` with the given options, on this program with the given arguments.
class Recorder {
 public:
  Recorder(const std::filesystem::path& trace, std::vector<std::string> options,
           const std::vector<std::string>& arguments, const std::filesystem::path& output) {
    std::vector<std::string> words = {(self().parent_path() / "headway").string(),
                                      "record",
                                      "--quiet",
                                      "--force",
                                      "-o",
                                      trace.string()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", self().string()});
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (::posix_spawn(&pid_, pointers[0], &actions, nullptr, pointers.data(), environ) != 0)
      throw std::runtime_error("cannot start headway record");
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ~Recorder() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  pid_t pid() const { return pid_; }
  bool has_ended() {
    if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = 0;
    return pid_ == 0;
  }
  int wait() {
    if (pid_ > 0) ::waitpid(pid_, &status_, 0);
    pid_ = 0;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }
  double resident_mb() const { return status_kb("VmRSS:") / 1e3 * 1.024; }
  double cpu_seconds() const {
    std::ifstream file(fmt::format("/proc/{}/stat", pid_));
    std::string word;
    double ticks = 0;
    for (int i = 1; file >> word && i <= 15; ++i) {
      if (i == 14 || i == 15) ticks += std::stod(word);
    }
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

 private:
  double status_kb(const std::string& key) const {
    std::ifstream file(fmt::format("/proc/{}/status", pid_));
    for (std::string word; file >> word;) {
      double value = 0;
      if (word == key && file >> value) return value;
    }
    return 0;
  }
  pid_t pid_ = 0;
  int status_ = 0;
};

struct Ended {
  std::int64_t records = 0;
  std::int64_t dropped = 0;
  double recorder_cpu_s = 0;
  double seconds = 0;
  double file_mb = 0;
};

Ended read_trace(const std::filesystem::path& path) {
  const headway::trace::Trace trace = headway::trace::load(path);
  auto meta = [&](std::string_view key) {
    const std::string text(trace.meta_value(key));
    return text.empty() ? 0.0 : std::stod(text);
  };
  Ended ended;
  ended.records = static_cast<std::int64_t>(meta(headway::trace::meta::kRecords));
  ended.recorder_cpu_s = meta(headway::trace::meta::kRecorderCpuNs) * 1e-9;
  ended.seconds = meta(headway::trace::meta::kDurationNs) * 1e-9;
  for (const headway::trace::LossCount& loss : trace.losses)
    if (loss.severity == "loss") ended.dropped += loss.count;
  ended.file_mb = static_cast<double>(std::filesystem::file_size(path)) * 1e-6;
  return ended;
}

void soak(const std::filesystem::path& folder, std::int64_t records, double rate,
          const std::string& ring) {
  const std::filesystem::path trace = folder / "soak.sqlite";
  Recorder recorder(trace, {"--ring", ring},
                    {"--produce", "2", fmt::format("{:.0f}", rate), std::to_string(records)},
                    folder / "out");
  const auto start = Clock::now();
  const auto report_every = std::chrono::duration<double>(static_cast<double>(records) / rate / 20);
  auto next = start + report_every;
  std::vector<double> resident;
  while (!recorder.has_ended()) {
    std::this_thread::sleep_for(milliseconds(50));
    if (Clock::now() < next) continue;
    next += report_every;
    resident.push_back(recorder.resident_mb());
    fmt::print("soak: {:.0f} s, recorder {:.0f} MB, {:.1f} s of processor time\n",
               std::chrono::duration<double>(Clock::now() - start).count(), resident.back(),
               recorder.cpu_seconds());
    std::fflush(stdout);
  }
  if (recorder.wait() != 0) throw std::runtime_error("the soak failed");
  const Ended ended = read_trace(trace);
  fmt::print("soak_records: {} \n", ended.records);
  fmt::print("soak_rate: {:.0f} records/s\n", static_cast<double>(ended.records) / ended.seconds);
  fmt::print("soak_dropped: {} events\n", ended.dropped);
  fmt::print("soak_recorder_cpu: {:.1f} % of a core\n", 100 * ended.recorder_cpu_s / ended.seconds);
  fmt::print("soak_recorder_cpu_per_100k_records: {:.2f} ms\n",
             ended.recorder_cpu_s * 1e3 * 1e5 / static_cast<double>(ended.records));
  // From when the ring is full; before, memory grows as it was asked to.
  if (resident.size() >= 4) {
    const auto quarter = resident.begin() + static_cast<std::ptrdiff_t>(resident.size() / 4);
    fmt::print("soak_recorder_memory: {:.0f} MB to {:.0f} MB\n",
               *std::min_element(quarter, resident.end()),
               *std::max_element(quarter, resident.end()));
  }
  fmt::print("soak_file: {:.1f} MB\n", ended.file_mb);
  std::fflush(stdout);
}

void stored(const std::filesystem::path& folder, double seconds) {
  constexpr double kRate = 100'000;
  const std::filesystem::path trace = folder / "stored.sqlite";
  Recorder recorder(
      trace, {},
      {"--produce", "2", fmt::format("{:.0f}", kRate), fmt::format("{:.0f}", kRate * seconds)},
      folder / "out");
  if (recorder.wait() != 0) throw std::runtime_error("the stored run failed");
  const Ended ended = read_trace(trace);
  fmt::print("stored_rate: {:.0f} events/s\n", static_cast<double>(ended.records) / ended.seconds);
  fmt::print("stored_dropped: {} events\n", ended.dropped);
  fmt::print("stored_recorder_cpu_at_100k_events_a_second: {:.1f} % of a core\n",
             1e7 * ended.recorder_cpu_s / static_cast<double>(ended.records));
  std::fflush(stdout);
}

/// Median of the bursts between two times since the start of the measured process.
double median_between(const std::filesystem::path& output, double begin, double end) {
  std::ifstream file(output);
  std::vector<double> costs;
  for (double at = 0, cost = 0; file >> at >> cost;) {
    if (at >= begin && at < end) costs.push_back(cost);
  }
  return headway::median(costs);
}

void full_ring(const std::filesystem::path& folder, double seconds) {
  const std::filesystem::path output = folder / "costs";
  auto pause = [](double s) { std::this_thread::sleep_for(std::chrono::duration<double>(s)); };
  {
    Recorder recorder(folder / "full.sqlite", {}, {"--measure"}, output);
    pause(seconds);
    ::kill(recorder.pid(), SIGSTOP);
    pause(seconds);
    ::kill(recorder.pid(), SIGCONT);
    ::kill(recorder.pid(), SIGTERM);
    recorder.wait();
  }
  const Ended ended = read_trace(folder / "full.sqlite");
  fmt::print("pair_recorded: {:.1f} ns\n", median_between(output, 0.2 * seconds, 0.9 * seconds));
  // The ring of 1 MiB holds the first eight bursts.
  fmt::print("pair_ring_full: {:.1f} ns\n", median_between(output, 1.4 * seconds, 1.9 * seconds));
  fmt::print("ring_full_dropped: {} events\n", ended.dropped);
  {
    Recorder recorder(folder / "over.sqlite", {"--duration", fmt::format("{:.1f}", seconds)},
                      {"--measure"}, output);
    pause(2.5 * seconds);
    ::kill(recorder.pid(), SIGTERM);
    recorder.wait();
  }
  fmt::print("pair_after_the_recording: {:.1f} ns\n",
             median_between(output, 1.8 * seconds, 2.4 * seconds));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 4 && words[0] == "--produce")
    return produce(std::stoi(words[1]), std::stod(words[2]), std::stoll(words[3]));
  if (words == std::vector<std::string>{"--measure"}) return measure();
  double records = 1e9;
  double rate = 1e6;
  std::string ring = "5";
  double seconds = 10;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    if (words[i] == "--quick") {
      records = 400'000;
      rate = 200'000;
      ring = "0.5";
      seconds = 1;
    } else if (words[i] == "--records" && more) {
      records = std::stod(words[++i]);
    } else if (words[i] == "--rate" && more) {
      rate = std::stod(words[++i]);
    } else if (words[i] == "--ring" && more) {
      ring = words[++i];
    } else {
      fmt::print(stderr,
                 "Usage: headway_bench_soak [--quick] [--records N] [--rate N] [--ring SECONDS]\n");
      return 2;
    }
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "headway-bench-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return 4;
  int status = 0;
  try {
    full_ring(pattern, seconds > 2 ? 2 : seconds);
    stored(pattern, seconds);
    soak(pattern, static_cast<std::int64_t>(records), rate, ring);
  } catch (const std::exception& error) {
    fmt::print(stderr, "headway_bench_soak: {}\n", error.what());
    status = 4;
  }
  std::error_code ignored;
  std::filesystem::remove_all(pattern, ignored);
  return status;
}
