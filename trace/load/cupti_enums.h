// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/trace.h"

/// The meaning of the numbers in the CUPTI tables, in both directions. CUPTI's headers are not
/// used: traces are read on machines without CUDA, and the values are part of its binary interface.
namespace headway::trace::load_detail {

/// CUpti_ActivityMemcpyKind (ENUM_CUDA_MEMCPY_OPER).
DeviceOpKind copy_kind(std::int32_t cupti);
std::int32_t cupti_copy_kind(DeviceOpKind kind);

/// ENUM_CUDA_MEM_KIND of Nsight Systems.
MemoryKind memory_kind(std::optional<std::int64_t> kind);
std::optional<std::int64_t> cupti_memory_kind(MemoryKind kind);

/// Headway's name for a copy or memset, by kind: CUPTI gives them none. Empty for other kinds.
std::string_view name_of_kind(DeviceOpKind kind);

/// CUpti_ActivityOverheadKind (ENUM_CUPTI_OVERHEAD_TYPE).
Overhead::Kind overhead_kind(std::int32_t cupti);
std::int32_t cupti_overhead_kind(Overhead::Kind kind);

}  // namespace headway::trace::load_detail
