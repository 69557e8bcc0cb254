// SPDX-License-Identifier: MIT
#include "analyzer/device_view.h"

#include <algorithm>

#include "common/interval_set.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// By the library that made the kernel: NCCL, RCCL (which keeps NCCL's names), NVSHMEM, ROCSHMEM and
/// MSCCL++.
bool is_communication_name(std::string_view name) {
  return name.starts_with("ncclKernel") || name.starts_with("ncclDevKernel") ||
         name.starts_with("nccl::") || name.starts_with("void nccl") ||
         name.find("ncclSymk") != std::string_view::npos || name.starts_with("nvshmem") ||
         name.find("nvshmemi_") != std::string_view::npos || name.starts_with("rccl") ||
         name.starts_with("rocshmem") || name.find("mscclpp::") != std::string_view::npos ||
         name.starts_with("mscclKernel") || name.starts_with("mscclpp");
}

}  // namespace

bool is_communication(const Trace& trace, DeviceOpId op) {
  switch (trace.device_ops.kind[op.value]) {
    case DeviceOpKind::kCommunication:
      return true;
    case DeviceOpKind::kKernel:
      return is_communication_name(trace.strings[trace.device_ops.name[op.value]]);
    default:
      return false;
  }
}

std::vector<DeviceView> device_views(const Trace& trace) {
  struct Parts {
    IntervalSet compute;
    IntervalSet comm;
    IntervalSet copy;
    Interval span{TimeNs::max(), TimeNs::min()};
    DeviceView view;
  };
  std::vector<Parts> parts(trace.devices.size());
  const DeviceOps& ops = trace.device_ops;
  std::vector<std::int8_t> communication_of_name(trace.strings.size(), -1);
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    Parts& part = parts[trace.streams[ops.stream[i].value].device.value];
    Interval interval = ops.interval(DeviceOpId{i});
    part.span = {std::min(part.span.begin, interval.begin), std::max(part.span.end, interval.end)};
    DeviceOpKind kind = ops.kind[i];
    if (kind == DeviceOpKind::kKernel || kind == DeviceOpKind::kCommunication) {
      bool comm = kind == DeviceOpKind::kCommunication;
      if (!comm && ops.name[i].value < communication_of_name.size()) {
        std::int8_t& known = communication_of_name[ops.name[i].value];
        if (known < 0) known = is_communication(trace, DeviceOpId{i});
        comm = known != 0;
      }
      (comm ? part.comm : part.compute).append(interval);
      ++part.view.kernels;
    } else if (kind == DeviceOpKind::kMemset) {
      part.compute.append(interval);
      ++part.view.memsets;
    } else {
      part.copy.append(interval);
      ++part.view.copies;
    }
  }
  std::vector<DeviceView> views;
  for (std::uint32_t d = 0; d < parts.size(); ++d) {
    Parts& part = parts[d];
    if (part.span.end < part.span.begin) continue;  // no work on this device
    DeviceView view = part.view;
    view.device = DeviceId{d};
    view.span = part.span.end - part.span.begin;
    view.compute = part.compute.total();
    view.comm = part.comm.total();
    view.exposed_comm = subtract(part.comm, part.compute).total();
    view.overlap = view.comm - view.exposed_comm;
    IntervalSet busy = unite(part.compute, part.comm);
    view.exposed_copy = subtract(part.copy, busy).total();
    view.idle = view.span - unite(busy, part.copy).total();
    views.push_back(view);
  }
  return views;
}

}  // namespace headway::analyzer
