// SPDX-License-Identifier: MIT
#include "collector/record/decode/conventions.h"

#include <fmt/format.h>

#include <algorithm>

#include "collector/wire/nccl.h"
#include "common/nvtx_conventions.h"
#include "common/secrets.h"
#include "common/text.h"
#include "trace/tables/device.h"
#include "trace/tables/graph_op.h"
#include "trace/tables/nccl_op.h"
#include "trace/tables/setting.h"
#include "trace/tables/stream.h"

namespace headway::record {
namespace {

using conventions::kAbsent;
using trace::PayloadField;

std::int32_t int32(const PayloadField& field, std::span<const std::byte> payload) {
  return static_cast<std::int32_t>(field.integer(payload, 0));
}

std::int64_t int64(const PayloadField& field, std::span<const std::byte> payload) {
  return field.integer(payload, 0);
}

/// NULL where the program says "does not apply" or leaves the field out.
std::optional<std::int64_t> unless(const PayloadField& field, std::span<const std::byte> payload,
                                   std::int64_t absent) {
  std::int64_t value = field.integer(payload, absent);
  return value == absent ? std::nullopt : std::optional(value);
}

/// A text field, made valid UTF-8 for the tables.
std::string_view text(const PayloadField& field, std::span<const std::byte> payload,
                      TraceSink& sink) {
  return sink.keep(to_valid_utf8(field.text(payload)));
}

}  // namespace

std::optional<Convention> Convention::recognise(const trace::PayloadSchema& schema) {
  auto field = [&](std::string_view name) { return Field::find(schema, name); };
  if (schema.name == conventions::kRangeSchema)
    return Convention(Range{field("kind"), field("phase"), field("op"), field("batch"),
                            field("step"), field("bytes"), field("flops"), field("sequence")});
  if (schema.name == conventions::kDeviceOpSchema)
    return Convention(DeviceOp{field("kind"), field("device"), field("stream"), field("phase"),
                               field("correlation"), field("op"), field("batch"), field("bytes"),
                               field("flops"), field("source_memory"), field("destination_memory"),
                               field("math_unit")});
  if (schema.name == conventions::kDeviceCallSchema)
    return Convention(DeviceCall{field("kind"), field("device"), field("stream"),
                                 field("correlation"), field("sync_id"), field("bytes")});
  if (schema.name == conventions::kGraphOpSchema)
    return Convention(GraphOp{field("op"), field("forward_op"), field("phase"),
                              field("input_count"), field("inputs"), field("flops"), field("bytes"),
                              field("output_bytes"), field("type"), field("name"), field("shape")});
  if (schema.name == conventions::kDeviceSchema)
    return Convention(Device{field("device"), field("type"), field("cores"), field("name")});
  if (schema.name == conventions::kStreamSchema)
    return Convention(Stream{field("device"), field("stream"), field("name")});
  if (schema.name == conventions::kSettingSchema)
    return Convention(Setting{field("name"), field("value")});
  if (schema.name == wire::kNcclSchema)
    return Convention(NcclOp{field("communicator"), field("sequence"), field("count"),
                             field("rank"), field("ranks"), field("peer"), field("is_collective"),
                             field("channels"), field("warps"), field("function"), field("dtype"),
                             field("algorithm"), field("protocol")});
  return std::nullopt;
}

Meaning Convention::meaning(std::span<const std::byte> payload) const {
  return std::visit(
      [&](const auto& fields) -> Meaning {
        if constexpr (requires { read(fields, payload); }) {
          return read(fields, payload);
        } else {
          return std::monostate();
        }
      },
      fields_);
}

bool Convention::write_mark(std::span<const std::byte> payload, const Mark& mark,
                            TraceSink& sink) const {
  return std::visit(
      [&](const auto& fields) {
        if constexpr (requires { write(fields, payload, mark.global_pid, sink); }) {
          write(fields, payload, mark.global_pid, sink);
          return true;
        } else if constexpr (requires { write(fields, payload, mark, sink); }) {
          write(fields, payload, mark, sink);
          return true;
        } else {
          return false;
        }
      },
      fields_);
}

Meaning Convention::read(const Range& f, Bytes p) {
  trace::tables::RangeInfo::Row row;
  row.kind = int32(f.kind, p);
  row.phase = int32(f.phase, p);
  row.op = unless(f.op, p, kAbsent);
  row.batch = unless(f.batch, p, kAbsent);
  row.step = unless(f.step, p, kAbsent);
  row.bytes = int64(f.bytes, p);
  row.flops = int64(f.flops, p);
  row.sequence = unless(f.sequence, p, kAbsent);
  return row;
}

Meaning Convention::read(const DeviceOp& f, Bytes p) {
  trace::tables::DeviceOp::Row row;
  row.kind = int32(f.kind, p);
  row.device_id = int32(f.device, p);
  row.stream_id = int32(f.stream, p);
  row.phase = int32(f.phase, p);
  row.correlation_id = unless(f.correlation, p, 0);
  row.op = unless(f.op, p, kAbsent);
  row.batch = unless(f.batch, p, kAbsent);
  row.bytes = int64(f.bytes, p);
  row.flops = int64(f.flops, p);
  row.source_memory = int32(f.source_memory, p);
  row.destination_memory = int32(f.destination_memory, p);
  row.math_unit = int32(f.math_unit, p);
  return row;
}

Meaning Convention::read(const DeviceCall& f, Bytes p) {
  trace::tables::DeviceCall::Row row;
  row.kind = int32(f.kind, p);
  row.device_id = int32(f.device, p);
  row.stream_id = int32(f.stream, p);
  row.correlation_id = unless(f.correlation, p, 0);
  row.sync_id = unless(f.sync_id, p, 0);
  row.bytes = int64(f.bytes, p);
  return row;
}

void Convention::write(const GraphOp& f, Bytes p, std::int64_t global_pid, TraceSink& sink) {
  trace::tables::GraphOp::Row row;
  row.global_pid = global_pid;
  row.op = f.op.integer(p, kAbsent);
  row.forward_op = unless(f.forward_op, p, kAbsent);
  row.phase = int32(f.phase, p);
  row.op_name = text(f.name, p, sink);
  row.type = text(f.type, p, sink);
  row.shape = text(f.shape, p, sink);
  std::string inputs;
  auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, int64(f.input_count, p)));
  for (std::size_t i = 0; i < std::min(count, f.inputs.count()); ++i)
    inputs += fmt::format("{}{}", i ? " " : "", f.inputs.integer(p, kAbsent, i));
  row.inputs = sink.keep(inputs);
  row.flops = int64(f.flops, p);
  row.bytes = int64(f.bytes, p);
  row.output_bytes = int64(f.output_bytes, p);
  sink.add<trace::tables::GraphOp>(row);
}

void Convention::write(const Device& f, Bytes p, std::int64_t global_pid, TraceSink& sink) {
  sink.add<trace::tables::Device>(
      {global_pid, int32(f.device, p), int32(f.type, p), int32(f.cores, p), text(f.name, p, sink)});
}

void Convention::write(const Stream& f, Bytes p, std::int64_t global_pid, TraceSink& sink) {
  sink.add<trace::tables::Stream>(
      {global_pid, int32(f.device, p), int32(f.stream, p), text(f.name, p, sink)});
}

void Convention::write(const Setting& f, Bytes p, std::int64_t global_pid, TraceSink& sink) {
  std::string_view name = text(f.name, p, sink);
  std::string_view value = text(f.value, p, sink);
  if (!sink.keeps_arguments() && names_secret(name)) value = kMasked;
  sink.told_setting(name, value);
  sink.add<trace::tables::Setting>({global_pid, name, value});
}

void Convention::write(const NcclOp& f, Bytes p, const Mark& mark, TraceSink& sink) {
  auto intern = [&](const Field& field) -> std::optional<trace::StringId> {
    std::string_view name = field.text(p);
    if (name.empty()) return std::nullopt;
    return sink.intern(to_valid_utf8(name));
  };
  trace::tables::NcclOp::Row row;
  row.start = mark.time_ns;
  row.global_tid = mark.global_tid;
  row.function = sink.intern(to_valid_utf8(f.function.text(p)));
  row.communicator =
      sink.intern(fmt::format("0x{:016x}", static_cast<std::uint64_t>(int64(f.communicator, p))));
  row.rank = int64(f.rank, p);
  row.ranks = int64(f.ranks, p);
  if (int64(f.is_collective, p) != 0) row.sequence = int64(f.sequence, p);
  row.count = int64(f.count, p);
  row.dtype = intern(f.dtype);
  row.peer = int64(f.peer, p);
  row.algorithm = intern(f.algorithm);
  row.protocol = intern(f.protocol);
  row.channels = int64(f.channels, p);
  if (int64(f.is_collective, p) != 0) row.warps = int64(f.warps, p);
  sink.add<trace::tables::NcclOp>(row);
}

}  // namespace headway::record
