// SPDX-License-Identifier: MIT
#include "tests/support/compare_traces.h"

#include <fmt/format.h>

#include <set>

#include "trace/meta_keys.h"

namespace headway::test {
namespace {

using namespace trace;

class Comparison {
 public:
  Comparison(const Trace& a, const Trace& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options) {}

  std::vector<std::string> run() {
    equal("start_utc_ns", 0, a_.start_utc_ns, b_.start_utc_ns);
    equal("end", 0, a_.end.ns, b_.end.ns);
    equal("complete", 0, a_.complete, b_.complete);
    equal("world_size", 0, a_.world_size, b_.world_size);
    meta();
    inventory();
    ranges();
    ops();
    calls();
    io();
    collectives();
    overheads();
    counters();
    graph();
    if (!options_.ignore_losses) losses();
    return found_;
  }

 private:
  static constexpr int kShownOfAKind = 3;

  template <class A, class B>
  bool equal(std::string_view what, std::size_t row, const A& a, const B& b) {
    if (a == b) return true;
    if (++shown_[std::string(what)] <= kShownOfAKind)
      found_.push_back(fmt::format("{} of row {}: {} and {}", what, row, a, b));
    return false;
  }
  template <class Column>
  bool sizes(std::string_view what, const Column& a, const Column& b) {
    return equal(fmt::format("number of {}", what), 0, a.size(), b.size());
  }
  void text(std::string_view what, std::size_t row, StringId a, StringId b) {
    equal(what, row, a_.strings[a], b_.strings[b]);
  }
  template <class Tag, class Rep>
  void id(std::string_view what, std::size_t row, Id<Tag, Rep> a, Id<Tag, Rep> b) {
    equal(what, row, a.valid() ? static_cast<std::int64_t>(a.value) : -1,
          b.valid() ? static_cast<std::int64_t>(b.value) : -1);
  }
  template <class Enum>
  void number(std::string_view what, std::size_t row, Enum a, Enum b) {
    equal(what, row, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
  }

  void meta() {
    if (options_.ignore_meta) return;
    auto kept = [](const Trace& trace) {
      auto copy = trace.meta;
      for (std::string_view key : {meta::kSourceFile, meta::kImportedBy, meta::kDurationNs,
                                   meta::kWorldSize, meta::kState, meta::kSchemaVersionKey})
        copy.erase(std::string(key));
      return copy;
    };
    auto a = kept(a_);
    auto b = kept(b_);
    for (const auto& [key, value] : a) equal("meta " + key, 0, value, b[key]);
    equal("number of meta keys", 0, a.size(), kept(b_).size());
  }

  void inventory() {
    if (sizes("processes", a_.processes, b_.processes)) {
      for (std::size_t i = 0; i < a_.processes.size(); ++i) {
        const Process& a = a_.processes[i];
        const Process& b = b_.processes[i];
        equal("process pid", i, a.pid, b.pid);
        equal("process parent", i, a.parent_pid, b.parent_pid);
        equal("process rank", i, a.rank, b.rank);
        equal("process name", i, a.name, b.name);
        equal("process command", i, a.command_line, b.command_line);
        equal("process start", i, a.start.ns, b.start.ns);
        equal("process end", i, a.end ? a.end->ns : -1, b.end ? b.end->ns : -1);
        equal("process exit code", i, a.exit_code.value_or(-1), b.exit_code.value_or(-1));
        equal("process signal", i, a.signal.value_or(-1), b.signal.value_or(-1));
        equal("process injected", i, a.injected, b.injected);
      }
    }
    if (sizes("threads", a_.threads, b_.threads)) {
      for (std::size_t i = 0; i < a_.threads.size(); ++i) {
        equal("thread tid", i, a_.threads[i].tid, b_.threads[i].tid);
        id("thread process", i, a_.threads[i].process, b_.threads[i].process);
        equal("thread name", i, a_.threads[i].name, b_.threads[i].name);
      }
    }
    if (sizes("devices", a_.devices, b_.devices)) {
      for (std::size_t i = 0; i < a_.devices.size(); ++i) {
        const Device& a = a_.devices[i];
        const Device& b = b_.devices[i];
        number("device type", i, a.type, b.type);
        equal("device ordinal", i, a.ordinal, b.ordinal);
        id("device process", i, a.process, b.process);
        equal("device cores", i, a.cores, b.cores);
        equal("device major", i, a.compute_major, b.compute_major);
        equal("device minor", i, a.compute_minor, b.compute_minor);
        equal("device memory", i, a.memory_bytes, b.memory_bytes);
        equal("device bandwidth", i, a.memory_bytes_per_second, b.memory_bytes_per_second);
        equal("device clock", i, a.max_clock_hz, b.max_clock_hz);
        equal("device name", i, a.name, b.name);
      }
    }
    if (sizes("streams", a_.streams, b_.streams)) {
      for (std::size_t i = 0; i < a_.streams.size(); ++i) {
        id("stream device", i, a_.streams[i].device, b_.streams[i].device);
        id("stream process", i, a_.streams[i].process, b_.streams[i].process);
        equal("stream ordinal", i, a_.streams[i].ordinal, b_.streams[i].ordinal);
        equal("stream name", i, a_.streams[i].name, b_.streams[i].name);
      }
    }
  }

  void ranges() {
    const Ranges& a = a_.ranges;
    const Ranges& b = b_.ranges;
    if (!sizes("ranges", a, b)) return;
    for (std::uint32_t i = 0; i < a.size(); ++i) {
      equal("range start", i, a.start[i].ns, b.start[i].ns);
      equal("range end", i, a.end[i].ns, b.end[i].ns);
      text("range name", i, a.name[i], b.name[i]);
      id("range thread", i, a.thread[i], b.thread[i]);
      id("range parent", i, a.parent[i], b.parent[i]);
      equal("range depth", i, a.depth[i], b.depth[i]);
      number("range flags", i, a.flags[i], b.flags[i]);
      equal("range domain", i, a_.domains.at(a.domain[i].value), b_.domains.at(b.domain[i].value));
      const RangeInfo* x = a_.info(RangeId{i});
      const RangeInfo* y = b_.info(RangeId{i});
      if (!equal("range has info", i, x != nullptr, y != nullptr) || !x || !y) continue;
      number("range kind", i, x->kind, y->kind);
      number("range phase", i, x->phase, y->phase);
      equal("range op", i, x->op, y->op);
      equal("range batch", i, x->batch, y->batch);
      equal("range step", i, x->step, y->step);
      equal("range bytes", i, x->bytes, y->bytes);
      equal("range flops", i, x->flops, y->flops);
      equal("range sequence", i, x->sequence, y->sequence);
      text("range shapes", i, x->shapes, y->shapes);
      text("range dtypes", i, x->dtypes, y->dtypes);
    }
  }

  void ops() {
    const DeviceOps& a = a_.device_ops;
    const DeviceOps& b = b_.device_ops;
    if (!sizes("device ops", a, b)) return;
    for (std::size_t i = 0; i < a.size(); ++i) {
      equal("op start", i, a.start[i].ns, b.start[i].ns);
      equal("op end", i, a.end[i].ns, b.end[i].ns);
      text("op name", i, a.name[i], b.name[i]);
      id("op stream", i, a.stream[i], b.stream[i]);
      id("op call", i, a.call[i], b.call[i]);
      equal("op bytes", i, a.bytes[i], b.bytes[i]);
      equal("op flops", i, a.flops[i], b.flops[i]);
      equal("op graph op", i, a.op[i], b.op[i]);
      equal("op batch", i, a.batch[i], b.batch[i]);
      number("op kind", i, a.kind[i], b.kind[i]);
      number("op phase", i, a.phase[i], b.phase[i]);
      number("op math unit", i, a.math_unit[i], b.math_unit[i]);
      number("op source", i, a.source_memory[i], b.source_memory[i]);
      number("op destination", i, a.destination_memory[i], b.destination_memory[i]);
      equal("op blocks", i, a.blocks[i], b.blocks[i]);
      equal("op block threads", i, a.block_threads[i], b.block_threads[i]);
      number("op flags", i, a.flags[i], b.flags[i]);
    }
  }

  void calls() {
    const Calls& a = a_.calls;
    const Calls& b = b_.calls;
    if (!sizes("calls", a, b)) return;
    for (std::size_t i = 0; i < a.size(); ++i) {
      equal("call start", i, a.start[i].ns, b.start[i].ns);
      equal("call end", i, a.end[i].ns, b.end[i].ns);
      text("call name", i, a.name[i], b.name[i]);
      id("call thread", i, a.thread[i], b.thread[i]);
      id("call stream", i, a.stream[i], b.stream[i]);
      equal("call correlation", i, a.correlation[i], b.correlation[i]);
      equal("call sync", i, a.sync_id[i], b.sync_id[i]);
      equal("call bytes", i, a.bytes[i], b.bytes[i]);
      number("call kind", i, a.kind[i], b.kind[i]);
      id("call op", i, a.op[i], b.op[i]);
    }
  }

  void io() {
    const Io& a = a_.io;
    const Io& b = b_.io;
    if (!sizes("calls on files", a, b)) return;
    for (std::size_t i = 0; i < a.size(); ++i) {
      equal("I/O start", i, a.start[i].ns, b.start[i].ns);
      equal("I/O end", i, a.end[i].ns, b.end[i].ns);
      equal("I/O busy", i, a.busy[i].ns, b.busy[i].ns);
      equal("I/O bytes", i, a.bytes[i], b.bytes[i]);
      equal("I/O offset", i, a.offset[i], b.offset[i]);
      equal("I/O path known", i, a.path[i].valid(), b.path[i].valid());
      text("I/O path", i, a.path[i], b.path[i]);
      text("I/O name", i, a.name[i], b.name[i]);
      id("I/O thread", i, a.thread[i], b.thread[i]);
      equal("I/O calls", i, a.calls[i], b.calls[i]);
      equal("I/O error", i, a.error[i], b.error[i]);
      number("I/O op", i, a.op[i], b.op[i]);
    }
  }

  void collectives() {
    if (!sizes("collectives", a_.collectives, b_.collectives)) return;
    for (std::size_t i = 0; i < a_.collectives.size(); ++i) {
      const Collective& a = a_.collectives[i];
      const Collective& b = b_.collectives[i];
      id("collective op", i, a.op, b.op);
      id("collective range", i, a.range, b.range);
      text("collective kind", i, a.kind, b.kind);
      text("collective communicator", i, a.communicator, b.communicator);
      text("collective dtype", i, a.dtype, b.dtype);
      equal("collective bytes", i, a.bytes, b.bytes);
      equal("collective sequence", i, a.sequence, b.sequence);
      equal("collective ranks", i, a.ranks, b.ranks);
      equal("collective peer", i, a.peer, b.peer);
    }
  }

  void overheads() {
    if (!sizes("overheads", a_.overheads, b_.overheads)) return;
    for (std::size_t i = 0; i < a_.overheads.size(); ++i) {
      const Overhead& a = a_.overheads[i];
      const Overhead& b = b_.overheads[i];
      equal("overhead begin", i, a.interval.begin.ns, b.interval.begin.ns);
      equal("overhead end", i, a.interval.end.ns, b.interval.end.ns);
      id("overhead thread", i, a.thread, b.thread);
      text("overhead name", i, a.name, b.name);
      number("overhead kind", i, a.kind, b.kind);
    }
  }

  void counters() {
    if (!sizes("counters", a_.counters, b_.counters)) return;
    for (std::size_t i = 0; i < a_.counters.size(); ++i) {
      const CounterSeries& a = a_.counters[i];
      const CounterSeries& b = b_.counters[i];
      equal("counter name", i, a.name, b.name);
      equal("counter unit", i, a.unit, b.unit);
      equal("counter description", i, a.description, b.description);
      id("counter process", i, a.process, b.process);
      equal("counter device", i, a.device.value_or(-1), b.device.value_or(-1));
      equal("counter times", i, a.time == b.time, true);
      equal("counter values", i, a.value == b.value, true);
    }
  }

  void graph() {
    if (sizes("graph ops", a_.graph_ops, b_.graph_ops)) {
      for (std::size_t i = 0; i < a_.graph_ops.size(); ++i) {
        const GraphOp& a = a_.graph_ops[i];
        const GraphOp& b = b_.graph_ops[i];
        id("graph op process", i, a.process, b.process);
        equal("graph op", i, a.op, b.op);
        equal("graph op forward", i, a.forward_op, b.forward_op);
        number("graph op phase", i, a.phase, b.phase);
        equal("graph op name", i, a.name, b.name);
        equal("graph op type", i, a.type, b.type);
        equal("graph op shape", i, a.shape, b.shape);
        equal("graph op inputs", i, a.inputs == b.inputs, true);
        equal("graph op flops", i, a.flops, b.flops);
        equal("graph op bytes", i, a.bytes, b.bytes);
        equal("graph op output", i, a.output_bytes, b.output_bytes);
      }
    }
    equal("settings", 0, a_.settings == b_.settings, true);
  }

  void losses() {
    if (!sizes("losses", a_.losses, b_.losses)) return;
    for (std::size_t i = 0; i < a_.losses.size(); ++i) {
      equal("loss name", i, a_.losses[i].name, b_.losses[i].name);
      equal("loss severity", i, a_.losses[i].severity, b_.losses[i].severity);
      equal("loss text", i, a_.losses[i].text, b_.losses[i].text);
      equal("loss count " + a_.losses[i].name, i, a_.losses[i].count, b_.losses[i].count);
    }
  }

  const Trace& a_;
  const Trace& b_;
  CompareOptions options_;
  std::vector<std::string> found_;
  std::map<std::string, int> shown_;
};

}  // namespace

std::vector<std::string> differences(const trace::Trace& a, const trace::Trace& b,
                                     const CompareOptions& options) {
  return Comparison(a, b, options).run();
}

}  // namespace headway::test
