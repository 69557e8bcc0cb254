// SPDX-License-Identifier: MIT
#include "tests/support/trace_builder.h"

#include <algorithm>

#include "trace/load/load.h"
#include "trace/meta_keys.h"
#include "trace/tables/all.h"

namespace headway::test {

using namespace trace;

namespace {

std::optional<std::int64_t> present(std::int64_t value) {
  if (value < 0) return std::nullopt;
  return value;
}

bool is_copy(DeviceOpKind kind) {
  return kind == DeviceOpKind::kCopyHostToDevice || kind == DeviceOpKind::kCopyDeviceToHost ||
         kind == DeviceOpKind::kCopyDeviceToDevice;
}

}  // namespace

TraceBuilder::TraceBuilder() : writer_(folder_ / "built.sqlite") {
  writer_.add<tables::SessionStart>({1'700'000'000'000'000'000, "2023-11-14T22:13:20", {}, 0});
  writer_.add<tables::Device>({kGlobalPid, 0, 2, 2, "host device"});
  process_.global_pid = kGlobalPid;
  process_.injected = 1;
  process_.exit_code = 0;
}

void TraceBuilder::range(std::int32_t tid, std::string_view name, std::int64_t start,
                         std::int64_t end, RangeInfo info) {
  tables::NvtxEvents::Row row;
  row.start = start;
  row.end = end;
  row.event_type = 59;
  row.global_tid = global_tid(tid);
  row.text_id = writer_.intern(name);
  if (domain_) row.domain_id = domain_;
  std::int64_t id = writer_.add<tables::NvtxEvents>(row);
  last_time_ = std::max(last_time_, end);
  if (info.kind == RangeKind::kOther && info.phase == Phase::kNone && info.op < 0) return;
  writer_.add<tables::RangeInfo>({id, static_cast<std::int32_t>(info.kind),
                                  static_cast<std::int32_t>(info.phase), present(info.op),
                                  present(info.batch), present(info.step), info.bytes, info.flops,
                                  present(info.sequence)});
}

void TraceBuilder::domain(std::string_view name) {
  if (name.empty()) {
    domain_ = 0;
    return;
  }
  auto [slot, is_new] =
      domains_.try_emplace(std::string(name), static_cast<std::int64_t>(domains_.size()) + 1);
  domain_ = slot->second;
  if (!is_new) return;
  tables::NvtxEvents::Row row;
  row.event_type = 75;
  row.domain_id = domain_;
  row.text = writer_.keep(name);
  row.global_tid = global_tid(0);
  writer_.add<tables::NvtxEvents>(row);
}

void TraceBuilder::mark(std::int32_t tid, std::string_view name, std::int64_t at) {
  add_mark(tid, name, at);
}

std::int64_t TraceBuilder::add_mark(std::int32_t tid, std::string_view name, std::int64_t at) {
  tables::NvtxEvents::Row row;
  row.start = at;
  row.event_type = 34;
  row.global_tid = global_tid(tid);
  row.text_id = writer_.intern(name);
  return writer_.add<tables::NvtxEvents>(row);
}

void TraceBuilder::sample(std::int32_t tid, std::string_view stack, std::int64_t at,
                          std::int64_t us) {
  const std::int64_t id = add_mark(tid, stack, at);
  writer_.add<tables::RangeInfo>(
      {id, static_cast<std::int32_t>(RangeKind::kSample), 0, {}, us, {}, 0, 0});
}

void TraceBuilder::open_range(std::int32_t tid, std::string_view name, std::int64_t start,
                              RangeInfo info) {
  tables::NvtxEvents::Row row;
  row.start = start;
  row.event_type = 59;
  row.global_tid = global_tid(tid);
  row.text_id = writer_.intern(name);
  if (domain_) row.domain_id = domain_;
  std::int64_t id = writer_.add<tables::NvtxEvents>(row);
  if (info.kind == RangeKind::kOther) return;
  writer_.add<tables::RangeInfo>({id, static_cast<std::int32_t>(info.kind),
                                  static_cast<std::int32_t>(info.phase), present(info.op),
                                  present(info.batch), present(info.step), info.bytes, info.flops});
}

void TraceBuilder::launch(std::int32_t tid, std::int64_t call_start, std::int64_t call_end,
                          std::int64_t op_start, std::int64_t op_end, Op op) {
  std::int64_t correlation = next_correlation_++;
  StringId name = writer_.intern(op.name);
  DeviceCallKind call = is_copy(op.kind) ? DeviceCallKind::kCopy : DeviceCallKind::kLaunch;
  writer_.add<tables::DeviceCall>({call_start, call_end, global_tid(tid),
                                   static_cast<std::int32_t>(call), 0, op.stream, correlation,
                                   std::nullopt, name, op.bytes});
  tables::DeviceOp::Row row;
  row.start = op_start;
  row.end = op_end;
  row.global_tid = global_tid(1000 + op.stream);
  row.stream_id = op.stream;
  row.kind = static_cast<std::int32_t>(op.kind);
  row.correlation_id = correlation;
  row.name_id = name;
  row.phase = static_cast<std::int32_t>(op.phase);
  row.op = present(op.op);
  row.batch = present(op.batch);
  row.bytes = op.bytes;
  row.flops = op.flops;
  row.source_memory = static_cast<std::int32_t>(op.source);
  writer_.add<tables::DeviceOp>(row);
  last_time_ = std::max({last_time_, call_end, op_end});
}

void TraceBuilder::call(std::int32_t tid, DeviceCallKind kind, std::int64_t start, std::int64_t end,
                        std::int32_t stream, std::int64_t sync_id, std::string_view name) {
  std::optional<std::int64_t> sync;
  if (sync_id) sync = sync_id;
  writer_.add<tables::DeviceCall>({start, end, global_tid(tid), static_cast<std::int32_t>(kind), 0,
                                   stream, std::nullopt, sync, writer_.intern(name), 0});
  last_time_ = std::max(last_time_, end);
}

void TraceBuilder::graph_op(std::int64_t op, std::string_view type, std::string_view name,
                            Phase phase, std::initializer_list<std::int64_t> inputs,
                            std::int64_t bytes, std::int64_t output_bytes) {
  std::string joined;
  for (std::int64_t input : inputs) joined += (joined.empty() ? "" : " ") + std::to_string(input);
  writer_.add<tables::GraphOp>({kGlobalPid, op, std::nullopt, static_cast<std::int32_t>(phase),
                                writer_.keep(name), writer_.keep(type), "", writer_.keep(joined), 0,
                                bytes, output_bytes});
}

void TraceBuilder::setting(std::string_view name, std::string_view value) {
  writer_.add<tables::Setting>({kGlobalPid, writer_.keep(name), writer_.keep(value)});
}

void TraceBuilder::counter(std::string_view series, std::string_view unit, std::int64_t at,
                           double value) {
  auto [slot, is_new] =
      series_.try_emplace(std::string(series), static_cast<std::int64_t>(series_.size()));
  if (is_new) {
    writer_.add<tables::CounterSeries>(
        {slot->second, writer_.keep(series), writer_.keep(unit), kGlobalPid, std::nullopt, ""});
  }
  writer_.add<tables::Counter>({slot->second, at, value});
}

void TraceBuilder::io(std::int32_t tid, IoOp op, std::string_view path, std::int64_t start,
                      std::int64_t end, std::int64_t bytes, std::int64_t calls, std::int64_t busy) {
  tables::Io::Row row;
  row.start = start;
  row.end = end;
  row.global_tid = global_tid(tid);
  row.op = static_cast<std::int32_t>(op);
  row.name_id = writer_.intern("read");
  if (!path.empty()) row.path_id = writer_.intern(path);
  row.bytes = bytes;
  row.calls = calls;
  if (busy >= 0) row.busy = busy;
  writer_.add<tables::Io>(row);
  last_time_ = std::max(last_time_, end);
}

void TraceBuilder::process_killed(int signal, std::int64_t at) {
  process_.exit_code.reset();
  process_.signal = signal;
  process_.end = at;
  last_time_ = std::max(last_time_, at);
}

void TraceBuilder::thread_name(std::int32_t tid, std::string_view name) {
  writer_.add<tables::ThreadNames>({writer_.intern(name), std::nullopt, global_tid(tid)});
}

std::filesystem::path TraceBuilder::save() {
  if (!saved_) {
    if (!process_.end) process_.end = last_time_;
    writer_.add<tables::Process>(process_);
    writer_.set_meta(meta::kDurationNs, std::to_string(last_time_));
    writer_.finish();
    saved_ = true;
  }
  return writer_.path();
}

Trace TraceBuilder::load() {
  return trace::load(save());
}

}  // namespace headway::test
