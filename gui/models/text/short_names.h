// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace headway::gui {

/// The label for the name of a kernel: "cutlass::gemm" for "void
/// cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x128_32x3_tn_align1>(…)", "add elementwise" for
/// PyTorch's templates. Names that are not C++ signatures are unchanged. Details and tooltips show
/// the whole name.
std::string short_name(std::string_view name);

}  // namespace headway::gui
