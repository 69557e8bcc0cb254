// SPDX-License-Identifier: MIT
#include "tests/analyzer/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "tests/support/trace_builder.h"

namespace headway::test {
namespace {

trace::Trace build(const KernelRun& run) {
  std::int64_t length = 0;
  for (const StepOp& op : run.ops) length += op.idle + op.ns - op.overlap;
  TraceBuilder builder;
  std::int64_t host = 1'000'000;  // the host is one step ahead of the device
  std::int64_t device = host + length;
  for (int s = 0; s < run.steps; ++s) {
    builder.range(1, "step", host, host + length, {.kind = trace::RangeKind::kStep, .step = s});
    std::int64_t call = host + 1;
    std::int64_t now = device;
    for (const StepOp& op : run.ops) {
      std::int64_t previous_end = now;
      std::int64_t start = now + op.idle - op.overlap;
      std::int64_t begin = op.issued_late ? previous_end + 1 : call;
      if (op.sequence >= 0)
        builder.range(1, fmt::format("op, seq = {}", op.sequence + s * 1000), begin, begin + 3);
      builder.launch(1, begin + 1, begin + 2, start, start + op.ns,
                     {.name = op.name,
                      .stream = op.stream,
                      .kind = op.kind,
                      .phase = op.phase,
                      .bytes = op.bytes,
                      .flops = op.flops});
      call += 4;
      now = start + op.ns;
    }
    host += length;
    device += length;
  }
  trace::Trace trace = builder.load();
  for (trace::Device& d : trace.devices) {
    d.name = run.device;
    d.type = run.type;
    d.cores = 0;
    d.memory_bytes_per_second = 0;
  }
  std::size_t next = 0;
  for (std::uint32_t& blocks : trace.device_ops.blocks)
    blocks = run.ops[next++ % run.ops.size()].blocks;
  return trace;
}

}  // namespace

KernelRun& KernelRun::add(const StepOp& op, int times) {
  ops.insert(ops.end(), static_cast<std::size_t>(times), op);
  return *this;
}

AnalyzedKernels::AnalyzedKernels(const KernelRun& run)
    : trace(build(run)), analysis(analyzer::analyze(trace)) {}

const analyzer::Finding& AnalyzedKernels::finding(std::string_view rule) const {
  auto found = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                            [&](const analyzer::Finding& f) { return f.rule == rule; });
  if (found == analysis.findings.end()) throw std::out_of_range(std::string(rule));
  return *found;
}

}  // namespace headway::test
