// SPDX-License-Identifier: MIT
#include "analyzer/partition/device_view.h"

#include <algorithm>

#include "analyzer/kernels/communication.h"
#include "common/interval_set.h"

namespace headway::analyzer {

using namespace trace;

// Classifies the name on every call: for all ops of a trace, use CommunicationOps.
bool is_communication(const Trace& trace, DeviceOpId op) {
  switch (trace.device_ops.kind[op.value]) {
    case DeviceOpKind::kCommunication:
      return true;
    case DeviceOpKind::kKernel:
      return classify_kernel(trace.strings[trace.device_ops.name[op.value]]).family ==
             KernelFamily::kCommunication;
    default:
      return false;
  }
}

std::vector<DeviceView> device_views(const Trace& trace) {
  return device_views(trace, CommunicationOps(trace, KernelNames(trace)));
}

std::vector<DeviceView> device_views(const Trace& trace, const CommunicationOps& communication) {
  struct Parts {
    IntervalSet compute;
    IntervalSet comm;
    IntervalSet copy;
    Interval span{TimeNs::max(), TimeNs::min()};
    DeviceView view;
  };
  std::vector<Parts> parts(trace.devices.size());
  const DeviceOps& ops = trace.device_ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    Parts& part = parts[trace.streams[ops.stream[i].value].device.value];
    Interval interval = ops.interval(DeviceOpId{i});
    part.span = {std::min(part.span.begin, interval.begin), std::max(part.span.end, interval.end)};
    DeviceOpKind kind = ops.kind[i];
    if (kind == DeviceOpKind::kKernel || kind == DeviceOpKind::kCommunication) {
      bool comm = communication[DeviceOpId{i}];
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
