// SPDX-License-Identifier: MIT
#include "tests/analyzer/planted_run.h"

#include <algorithm>
#include <stdexcept>

namespace headway::test {

using namespace trace;

void PlantedRun::build(TraceBuilder& builder) const {
  constexpr std::int32_t kTrainer = 1;
  constexpr std::int32_t kLoader = 2;
  builder.thread_name(kTrainer, "trainer");
  builder.thread_name(kLoader, "loader 0");
  std::int64_t host = 1'000'000;
  std::int64_t device = host;  // when the compute stream is free
  for (int s = 0; s < steps; ++s) {
    std::int64_t step_start = host;
    if (read + decode > 0) {
      // The worker begins when the device runs dry, so that the whole wait is exposed.
      host = std::max(host, device);
      builder.range(kLoader, "batch", host, host + read + decode,
                    {.kind = RangeKind::kBatch, .batch = s});
      builder.range(kLoader, "read", host, host + read,
                    {.kind = RangeKind::kRead, .batch = s, .bytes = read_bytes});
      builder.range(kLoader, "decode", host + read, host + read + decode,
                    {.kind = RangeKind::kDecode, .batch = s});
      builder.range(kTrainer, "input wait", step_start, host + read + decode,
                    {.kind = RangeKind::kInputWait, .phase = Phase::kInput, .batch = s});
      host += read + decode;
    }
    auto run_kernel = [&](std::string_view name, std::int64_t duration, Phase phase,
                          std::int64_t bytes) {
      std::int64_t start = std::max(host + latency, device);
      builder.launch(kTrainer, host, host + launch_call, start, start + duration,
                     {.name = name, .phase = phase, .bytes = bytes});
      device = start + duration;
      std::int64_t next = host + launch_every;
      if (sync_every_kernel) {
        builder.call(kTrainer, DeviceCallKind::kStreamSynchronize, host + launch_call,
                     device + sync_return);
        next = std::max(next, device + sync_return + 1'000);
      }
      host = next;
    };
    if (copy > 0) {
      std::int64_t start = std::max(host + latency, device);
      builder.launch(kTrainer, host, host + launch_call, start, start + copy,
                     {.name = "copy batch",
                      .stream = 1,
                      .kind = DeviceOpKind::kCopyHostToDevice,
                      .bytes = 4'000'000,
                      .source = MemoryKind::kPageable});
      device = start + copy;
      host += launch_every;
    }
    for (int k = 0; k < kernels; ++k) run_kernel("kernel", kernel, Phase::kForward, 2'000'000);
    for (int k = 0; k < update_kernels; ++k)
      run_kernel("update", update_kernel, Phase::kUpdate, update_bytes);
    builder.range(kTrainer, "step", step_start, host,
                  {.kind = RangeKind::kStep, .batch = s, .step = s});
    // The host runs at most one step ahead of the device.
    host = std::max(host, device - kernels * kernel);
  }
}

AnalyzedRun::AnalyzedRun(const PlantedRun& run)
    : trace([&] {
        TraceBuilder builder;
        run.build(builder);
        return builder.load();
      }()),
      analysis(analyzer::analyze(trace)) {}

AnalyzedRun::AnalyzedRun(TraceBuilder& builder)
    : trace(builder.load()), analysis(analyzer::analyze(trace)) {}

const analyzer::Finding& AnalyzedRun::finding(std::string_view rule) const {
  for (const analyzer::Finding& finding : analysis.findings) {
    if (finding.rule == rule) return finding;
  }
  throw std::runtime_error("no such rule: " + std::string(rule));
}

}  // namespace headway::test
