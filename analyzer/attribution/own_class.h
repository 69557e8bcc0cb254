// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/kernels/families.h"
#include "analyzer/model/time_class.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// The class of device op `op` on its own, even if a more important class runs at the same time. A recorded tag takes
/// precedence over the kernel's name. `communication`: the op is one of CommunicationOps. `phase`: the op's own tag, else
/// that of the ranges around its launch.
TimeClass own_class(const trace::DeviceOps& ops, std::size_t op, const KernelNames& kernels,
                    bool communication, trace::Phase phase);

}  // namespace headway::analyzer
