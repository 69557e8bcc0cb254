// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.h"

namespace headway::gui {

/// Words for the trace's enumerations; "" for values without a meaning for the user.
std::string_view label_of(trace::RangeKind kind);
std::string_view label_of(trace::Phase phase);
std::string_view label_of(trace::DeviceOpKind kind);
std::string_view label_of(trace::DeviceCallKind kind);
std::string_view label_of(trace::MemoryKind kind);

/// Three significant digits with an SI prefix: "1.23 TFLOP/s", "840 GB/s".
std::string si(double value, std::string_view unit);

}  // namespace headway::gui
