// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace headway::trace::kineto {

/// The values that are read from a record's "args": JSON text without surrounding space; empty when
/// absent.
struct Args {
  std::string_view correlation, stream, device, bytes, grid, block;
  std::string_view sequence, input_shapes, input_types;
  std::string_view python_id, python_parent;
  std::string_view wait_record;
  std::string_view collective, in_elements, out_elements, group_size, dtype, group_name,
      collective_sequence, peer_source, peer_destination, peer_root;
  std::string_view name, labels;
  std::string_view device_id, device_type, allocated, reserved;
};

/// One event record: views into the text being parsed, valid until the next record.
struct Record {
  std::string_view phase, category, name, pid, tid, time, duration, id;
  Args args;
  std::vector<std::pair<std::string_view, std::string_view>> series;  ///< args of a counter
};

}  // namespace headway::trace::kineto
