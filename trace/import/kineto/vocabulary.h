// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "trace/trace.h"

/// The names that PyTorch's profiler uses and their meanings, each declared once.
namespace headway::trace::kineto {

/// What the rows of a category contain.
enum class Content : std::uint8_t {
  kRange,        ///< host time with a name
  kDeviceRange,  ///< time on a stream with a name (gpu_user_annotation)
  kCall,         ///< runtime or driver API
  kKernel,
  kCopy,
  kMemset,
  kSync,  ///< what a synchronising call waited for
  kOverhead,
  kMemory,    ///< allocator state
  kProfiler,  ///< the profiler's own marks ("Trace", "Iteration Start")
  kLaunchFlow,
  kAutogradFlow,
};
struct Category {
  Content content;
  std::string_view domain;  ///< domain of its ranges; empty: the category's own name
};
/// The category of a text, in any spelling that PyTorch has used; unknown ones are kRange.
Category category_of(std::string_view text);

/// Device op kind and memories of a copy by its name: "Memcpy HtoD (Pinned -> Device)".
struct CopyKind {
  DeviceOpKind kind = DeviceOpKind::kCopyDeviceToDevice;
  MemoryKind source = MemoryKind::kUnknown;
  MemoryKind destination = MemoryKind::kUnknown;
};
CopyKind copy_kind_of(std::string_view name);

/// The name of the thread that stands for the annotations on a stream, and the (device, stream) of
/// such a name.
std::string annotations_row(std::string_view device, std::string_view stream);
std::optional<std::pair<std::int32_t, std::int32_t>> parse_annotations_row(std::string_view name);

Overhead::Kind overhead_kind_of(std::string_view name);

/// Sets what PyTorch's own annotations say by their names: ProfilerStep#, Optimizer.step#,
/// enumerate(DataLoader)#. False for other names.
bool describe_annotation(std::string_view name, RangeInfo& info);

/// "allreduce" for "_allreduce_coalesced", "all_reduce", …; empty for functions that move no data
/// ("wait").
std::string collective_kind_of(std::string_view recorded);
/// Bytes of an element by c10's ("BFloat16") or NCCL's ("bf16") name; 0 unknown.
std::int64_t bytes_of_dtype(std::string_view dtype);
/// The full message as NCCL's bus bandwidth counts it.
std::int64_t collective_bytes(std::string_view kind, std::int64_t in_elements,
                              std::int64_t out_elements, std::int64_t element_bytes);

}  // namespace headway::trace::kineto
