// SPDX-License-Identifier: MIT
// Cost of recording NVTX: ns per push/pop pair without a tool and with `headway record`, for both clocks,
// one and two threads; the recorder's processor time, and bytes per event on disk.
// Usage: headway_bench_nvtx [--quick]
//
// Each figure comes from a separate process (NVTX looks for a tool at the first call).
// It times bursts that fit a ring and lets the recorder empty it in between: a full ring drops events,
// which is cheaper than recording them. A run in which anything was dropped is an error.
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/nvtx_conventions.h"
#include "trace/load/load.h"
#include "trace/meta_keys.h"

namespace {

using Clock = std::chrono::steady_clock;
namespace conventions = headway::conventions;

constexpr int kPairsPerBurst = 2000;
constexpr auto kBetweenBursts = std::chrono::milliseconds(25);

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// ---- the measured process ------------------------------------------------------------------------

enum class Call { kPushA, kRegistered, kPayload, kNothing };

/// Handles for the calls, made once.
struct Events {
  Events() {
    domain = nvtxDomainCreateA(conventions::kDomain.data());
    for (const conventions::Field& field : conventions::kRangeFields) {
      nvtxPayloadSchemaEntry_t entry{};
      entry.type = field.type == conventions::FieldType::kUint32 ? NVTX_PAYLOAD_ENTRY_TYPE_UINT32
                                                                 : NVTX_PAYLOAD_ENTRY_TYPE_INT64;
      entry.name = field.name.data();
      entry.offset = field.offset;
      entries.push_back(entry);
    }
    nvtxPayloadSchemaAttr_t schema{};
    schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    schema.name = conventions::kRangeSchema.data();
    schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    schema.entries = entries.data();
    schema.numEntries = entries.size();
    schema.payloadStaticSize = sizeof payload;
    payload.kind = static_cast<std::uint32_t>(conventions::RangeKind::kOp);
    data = {nvtxPayloadSchemaRegister(domain, &schema), sizeof payload, &payload};
    registered.version = NVTX_VERSION;
    registered.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    registered.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    registered.message.registered = nvtxDomainRegisterStringA(domain, "layer1.0.conv1");
    with_payload = registered;
    with_payload.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    with_payload.reserved0 = 1;
    with_payload.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data);
  }
  nvtxDomainHandle_t domain;
  std::vector<nvtxPayloadSchemaEntry_t> entries;
  conventions::RangePayload payload;
  nvtxPayloadData_t data;
  nvtxEventAttributes_t registered{};
  nvtxEventAttributes_t with_payload{};
};

double burst_ns_per_pair(Call call, const Events& events) {
  auto start = Clock::now();
  for (int i = 0; i < kPairsPerBurst; ++i) {
    switch (call) {
      case Call::kPushA:
        nvtxRangePushA("layer1.0.conv1");
        nvtxRangePop();
        break;
      case Call::kRegistered:
        nvtxDomainRangePushEx(events.domain, &events.registered);
        nvtxDomainRangePop(events.domain);
        break;
      case Call::kPayload:
        nvtxDomainRangePushEx(events.domain, &events.with_payload);
        nvtxDomainRangePop(events.domain);
        break;
      case Call::kNothing:
        break;
    }
  }
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kPairsPerBurst;
}

/// Prints the median of each thread's bursts, the worst thread's; and how many pairs were made.
int measure(Call call, int threads, int bursts) {
  Events events;
  std::vector<double> medians(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  for (double& result : medians) {
    workers.emplace_back([&result, &events, call, bursts] {
      std::vector<double> times;
      for (int i = 0; i < bursts; ++i) {
        double time = burst_ns_per_pair(call, events);
        if (i > 0) times.push_back(time);  // the first one takes the ring
        std::this_thread::sleep_for(kBetweenBursts);
      }
      result = median(times);
    });
  }
  for (std::thread& worker : workers) worker.join();
  std::printf("%.3f\n", *std::max_element(medians.begin(), medians.end()));
  return 0;
}

// ---- the measuring process -----------------------------------------------------------------------

struct Run {
  double ns_per_pair = 0;
  double recorder_cpu_ns = 0;
  std::int64_t events = 0;
  std::int64_t file_bytes = 0;
  std::int64_t duration_ns = 0;
};

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

/// `clock` "": without a tool.
Run run(const std::filesystem::path& folder, const std::string& clock, Call call, int threads,
        int bursts) {
  std::string child =
      fmt::format("{} --measure {} {} {}", quoted(self()), static_cast<int>(call), threads, bursts);
  Run result;
  if (clock.empty()) {
    result.ns_per_pair = std::stod(output_of(child));
    return result;
  }
  std::filesystem::path trace_path = folder / "run.sqlite";
  result.ns_per_pair = std::stod(output_of(
      fmt::format("{} record --quiet --force --clock {} -o {} -- {}",
                  quoted(self().parent_path() / "headway"), clock, quoted(trace_path), child)));
  headway::trace::Trace trace = headway::trace::load(trace_path);
  auto meta = [&](std::string_view key) {
    std::string text(trace.meta_value(key));
    return text.empty() ? 0.0 : std::stod(text);
  };
  std::int64_t pairs = call == Call::kNothing ? 0 : std::int64_t{kPairsPerBurst} * bursts * threads;
  std::int64_t recorded = static_cast<std::int64_t>(trace.ranges.size());
  if (recorded != pairs)
    throw std::runtime_error(fmt::format("{} of {} pairs were recorded", recorded, pairs));
  result.recorder_cpu_ns = meta(headway::trace::meta::kRecorderCpuNs);
  result.events = static_cast<std::int64_t>(meta(headway::trace::meta::kRecords));
  result.duration_ns = static_cast<std::int64_t>(meta(headway::trace::meta::kDurationNs));
  result.file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(trace_path));
  return result;
}

void bench(const std::filesystem::path& folder, int repeats, int bursts) {
  struct Variant {
    const char* name;
    Call call;
  };
  constexpr Variant kVariants[] = {{"push_a", Call::kPushA},
                                   {"domain_registered", Call::kRegistered},
                                   {"domain_payload_48_bytes", Call::kPayload}};
  constexpr std::pair<const char*, const char*> kTools[] = {
      {"none", ""}, {"tsc", "tsc"}, {"realtime", "realtime"}};
  for (const Variant& variant : kVariants) {
    for (int threads : {1, 2}) {
      std::vector<double> times[3];
      // Interleaved, so that other load on the machine affects all variants.
      for (int repeat = 0; repeat < repeats; ++repeat) {
        for (std::size_t tool = 0; tool < 3; ++tool)
          times[tool].push_back(
              run(folder, kTools[tool].second, variant.call, threads, bursts).ns_per_pair);
      }
      for (std::size_t tool = 0; tool < 3; ++tool)
        fmt::print("pair_{}_{}_{}_thread{}: {:.1f} ns\n", variant.name, kTools[tool].first, threads,
                   threads > 1 ? "s" : "", median(times[tool]));
      std::fflush(stdout);
    }
  }
  // Recorder cost per event: the difference to a run of the same length without events.
  Run idle = run(folder, "tsc", Call::kNothing, 2, 8 * bursts);
  Run busy = run(folder, "tsc", Call::kPayload, 2, 8 * bursts);
  double events = static_cast<double>(busy.events);
  fmt::print("recorder_cpu_per_100k_events: {:.1f} ms\n",
             (busy.recorder_cpu_ns - idle.recorder_cpu_ns) / events * 1e5 * 1e-6);
  fmt::print("recorder_cpu_without_events: {:.2f} %\n",
             100 * idle.recorder_cpu_ns / static_cast<double>(idle.duration_ns));
  fmt::print("file_bytes_per_event: {:.1f} B\n",
             static_cast<double>(busy.file_bytes - idle.file_bytes) / events);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 4 && arguments[0] == "--measure")
    return measure(static_cast<Call>(std::stoi(arguments[1])), std::stoi(arguments[2]),
                   std::stoi(arguments[3]));
  bool quick = arguments == std::vector<std::string>{"--quick"};
  if (!quick && !arguments.empty()) {
    fmt::print(stderr, "Usage: headway_bench_nvtx [--quick]\n");
    return 2;
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "headway-bench-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return 4;
  int status = 0;
  try {
    bench(pattern, quick ? 1 : 5, quick ? 4 : 20);
  } catch (const std::exception& error) {
    fmt::print(stderr, "headway_bench_nvtx: {}\n", error.what());
    status = 4;
  }
  std::error_code ignored;
  std::filesystem::remove_all(pattern, ignored);
  return status;
}
