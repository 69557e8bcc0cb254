// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace headway::trace::save_detail {

/// The base name of a kernel, as Nsight Systems' shortName: without return type, namespaces,
/// template arguments and parameters. A name that is not a C++ function is returned unchanged.
std::string_view short_kernel_name(std::string_view name);

}  // namespace headway::trace::save_detail
