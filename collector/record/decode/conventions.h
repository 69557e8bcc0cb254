// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "collector/record/rows/trace_sink.h"
#include "trace/payload.h"
#include "trace/tables/device_call.h"
#include "trace/tables/device_op.h"
#include "trace/tables/range_info.h"

namespace headway::record {

/// What the payload of a range says about the range: a row in which the caller fills in times,
/// thread and name. Empty for payloads that follow none of the conventions.
using Meaning = std::variant<std::monostate, trace::tables::RangeInfo::Row,
                             trace::tables::DeviceOp::Row, trace::tables::DeviceCall::Row>;

/// A schema of common/nvtx_conventions.h as one process registered it. Its fields are looked up by
/// name once.
class Convention {
 public:
  /// Nullopt when the schema is not one of the conventions. The caller checks the domain.
  static std::optional<Convention> recognise(const trace::PayloadSchema& schema);

  /// Marks of this schema record an event; marks of other schemas define something.
  bool is_nccl_op() const { return std::holds_alternative<NcclOp>(fields_); }
  /// For schemas of ranges: decodes the payload.
  Meaning meaning(std::span<const std::byte> payload) const;
  /// Where and when a mark was made.
  struct Mark {
    std::int64_t global_pid = 0;
    std::int64_t global_tid = 0;
    std::int64_t time_ns = 0;
  };
  /// For schemas of marks: writes the row. False when this is not a schema of marks.
  bool write_mark(std::span<const std::byte> payload, const Mark& mark, TraceSink& sink) const;

 private:
  using Field = trace::PayloadField;
  /// Where the fields of each schema lie; a field that a program left out reads as absent.
  struct Range {
    Field kind, phase, op, batch, step, bytes, flops, sequence;
  };
  struct DeviceOp {
    Field kind, device, stream, phase, correlation, op, batch, bytes, flops, source_memory,
        destination_memory, math_unit;
  };
  struct DeviceCall {
    Field kind, device, stream, correlation, sync_id, bytes;
  };
  struct GraphOp {
    Field op, forward_op, phase, input_count, inputs, flops, bytes, output_bytes, type, name, shape;
  };
  struct Device {
    Field device, type, cores, name;
  };
  struct Stream {
    Field device, stream, name;
  };
  struct Setting {
    Field name, value;
  };
  struct NcclOp {
    Field communicator, sequence, count, rank, ranks, peer, is_collective, channels, warps,
        function, dtype, algorithm, protocol;
  };
  using Fields =
      std::variant<Range, DeviceOp, DeviceCall, GraphOp, Device, Stream, Setting, NcclOp>;
  explicit Convention(Fields fields) : fields_(fields) {}

  using Bytes = std::span<const std::byte>;
  static Meaning read(const Range& fields, Bytes payload);
  static Meaning read(const DeviceOp& fields, Bytes payload);
  static Meaning read(const DeviceCall& fields, Bytes payload);
  static void write(const GraphOp& fields, Bytes payload, std::int64_t global_pid, TraceSink& sink);
  static void write(const Device& fields, Bytes payload, std::int64_t global_pid, TraceSink& sink);
  static void write(const Stream& fields, Bytes payload, std::int64_t global_pid, TraceSink& sink);
  static void write(const Setting& fields, Bytes payload, std::int64_t global_pid, TraceSink& sink);
  static void write(const NcclOp& fields, Bytes payload, const Mark& mark, TraceSink& sink);

  Fields fields_;
};

}  // namespace headway::record
