// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace headway::record {

/// "_Z6vecAddPfS_" -> "vecAdd(float*, float*)"; returns a name that is not mangled unchanged.
std::string demangle(const std::string& name);

/// The function's own name, without its return type, namespace, template arguments and parameters:
/// "void at::native::vectorized_kernel<4, Op>(int, Op)" -> "vectorized_kernel".
std::string base_name(std::string_view demangled);

}  // namespace headway::record
