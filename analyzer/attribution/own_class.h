// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/kernels/families.h"
#include "analyzer/model/time_class.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// The class of device op `op` while nothing above it runs. Tags from the recording come first, the
/// kernel's name second. `communication`: it is one of CommunicationOps; `phase`: its own, or that of
/// the ranges around its launch.
TimeClass own_class(const trace::DeviceOps& ops, std::size_t op, const KernelNames& kernels,
                    bool communication, trace::Phase phase);

}  // namespace headway::analyzer
