// SPDX-License-Identifier: MIT
#include "tests/planted/dsl/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tests/planted/dsl/action.h"

namespace headway::planted {
namespace {

using trace::Trace;

double number(const Statement& s, std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) s.fail(fmt::format("'{}' is no number", text));
  if (end == text.data() + text.size()) return value;
  Statement amount = s;
  amount.attributes = {{"value", std::string(text)}};
  return static_cast<double>(amount.bytes("value", 0));
}

/// Samples of one statement; several with one name continue one series.
void add_counter(const Case& c, const Statement& s, int rank, Trace& trace) {
  const std::string& name = s.arguments[0];
  std::optional<std::int32_t> device;
  if (s.has("device")) device = static_cast<std::int32_t>(s.integer("device", 0));
  trace::ProcessId process;
  for (std::size_t i = 0; i < trace.processes.size() && !process.valid(); ++i) {
    bool wanted = s.text("process").empty() || trace.processes[i].name == s.text("process");
    if (trace.processes[i].rank == rank && wanted) process = trace::ProcessId::from(i);
  }
  if (name.starts_with("machine.") || device) process = trace::ProcessId::none();
  auto series = std::find_if(trace.counters.begin(), trace.counters.end(), [&](const auto& other) {
    return other.name == name && other.process == process && other.device == device;
  });
  if (series == trace.counters.end()) {
    trace::CounterSeries fresh;
    fresh.name = name;
    fresh.unit = s.text("unit");
    fresh.process = process;
    fresh.device = device;
    series = trace.counters.insert(trace.counters.end(), std::move(fresh));
  }
  std::string_view value = s.arguments[1];
  std::size_t dots = value.find("..");
  double low = number(s, value.substr(0, dots));
  double high = dots == std::string_view::npos ? low : number(s, value.substr(dots + 2));
  Random random(c.seed * 77 + static_cast<std::uint64_t>(s.line) +
                static_cast<std::uint64_t>(rank));
  DurationNs every = s.duration("every", {100'000'000});
  if (every.ns <= 0) s.fail("every=: expected more than 0");
  TimeNs to{std::min(trace.end.ns, s.duration("to", {trace.end.ns}).ns)};
  for (TimeNs t{s.duration("from", {0}).ns}; t <= to; t = t + every) {
    series->time.push_back(t);
    series->value.push_back(low + (high - low) * random.next());
  }
}

void add_graph_op(const Statement& s, Trace& trace) {
  trace::GraphOp op;
  op.process = trace::ProcessId{0};
  op.op = s.integer_argument(0);
  op.type = s.arguments[1];
  op.name = s.arguments[2];
  op.shape = s.text("shape");
  std::string phase = s.text("phase", "forward");
  op.phase = phase == "forward"    ? trace::Phase::kForward
             : phase == "backward" ? trace::Phase::kBackward
             : phase == "update"   ? trace::Phase::kUpdate
                                   : trace::Phase::kNone;
  if (op.phase == trace::Phase::kNone) s.fail("phase=: expected forward, backward or update");
  op.forward_op = s.integer("forward", -1);
  std::string inputs = s.text("inputs");
  for (std::size_t at = 0; at < inputs.size();) {
    std::size_t comma = std::min(inputs.find(',', at), inputs.size());
    Statement one = s;
    one.attributes = {{"input", inputs.substr(at, comma - at)}};
    op.inputs.push_back(one.integer("input", 0));
    at = comma + 1;
  }
  op.bytes = s.bytes("bytes", 0);
  op.flops = s.bytes("flops", 0);
  op.output_bytes = s.bytes("output", 0);
  trace.graph_op_index[{op.process, op.op}] = trace::GraphOpId::from(trace.graph_ops.size());
  trace.graph_ops.push_back(std::move(op));
}

}  // namespace

void describe(const Case& c, std::optional<int> rank, Trace& trace) {
  for (const Statement& s : c.statements) {
    if (s.keyword == "setting") {
      trace.settings.emplace_back(s.arguments[0], s.arguments[1]);
    } else if (s.keyword == "meta") {
      trace.meta[s.arguments[0]] = s.arguments[1];
    } else if (s.keyword == "op") {
      add_graph_op(s, trace);
    } else if (s.keyword == "counter") {
      bool machine = s.arguments[0].starts_with("machine.");
      for (int r = 0; r < (machine ? 1 : c.ranks); ++r) {
        if (rank && !machine && *rank != r) continue;
        if (s.has("rank") && !s.lists("rank", r)) continue;
        add_counter(c, s, r, trace);
      }
    }
  }
}

}  // namespace headway::planted
