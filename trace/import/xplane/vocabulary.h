// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/trace.h"

/// The names that jax.profiler and the TensorFlow profiler use and their meanings, each declared
/// once.
namespace headway::trace::xplane {

/// The meaning of a host event, by its name.
enum class HostRole : std::uint8_t {
  kRange,            ///< host time with a name
  kPython,           ///< a Python function: "$train.py:12 step"
  kFrameworkOp,      ///< an operator of TensorFlow on the processor: "dense/MatMul:MatMul"
  kApiCall,          ///< a call of CUDA's or HIP's API
  kInputWait,        ///< a thread waits for the next element of a dataset
  kIterator,         ///< a stage of tf.data
  kPrefetchProduce,  ///< tf.data makes an element ahead
  kPrefetchConsume,
  kHandOver,     ///< a thread gives work to a pool
  kRegionBegin,  ///< a thread of the pool begins that work
  kRegionEnd,
  kMemory,  ///< the allocator's state
  kNoise,   ///< end marks of events that have an end already
};
/// kRange for names that the profilers do not use.
HostRole host_role(std::string_view name, std::string_view display_name);

/// "train.py(12): step" for "$train.py:12 step".
std::string python_name(std::string_view name);

/// The stage of the input pipeline for an iterator or operator of tf.data.
RangeKind input_stage(std::string_view name);
/// True for threads that only make input: the threads of tf.data.
bool makes_input(std::string_view thread_name);
/// True for the thread of tf.data that waits for a batch on behalf of a compiled step.
bool waits_for_input(std::string_view thread_name);

/// "allreduce" for "all-reduce-start.7": the kind as Collective::kind has it; empty for other ops.
std::string_view collective_kind(std::string_view hlo_op);
/// True for the half of an asynchronous op that waits for the op's end: "all-reduce-done.7".
bool is_done_half(std::string_view hlo_op);

/// "fusion" of "fusion.12", "dot_general" of "jit(f)/jvp(g)/dot_general".
std::string_view without_number(std::string_view hlo_op);
std::string_view last_part(std::string_view path);
/// The phase of the step, from the path of a JAX op: the path of a differentiated op contains the
/// transform.
Phase phase_of_path(std::string_view path);

/// Bytes of the result of "%add.1 = f32[8,16]{1,0} add(...)"; kAbsent when the text does not say
/// it.
std::int64_t result_bytes(std::string_view hlo_text);

/// A copy as a GPU's plane describes it: "kind_src:pageable kind_dst:device size:2048 dest:0
/// async:1".
struct Copy {
  DeviceOpKind kind = DeviceOpKind::kCopyDeviceToDevice;
  MemoryKind source = MemoryKind::kUnknown;
  MemoryKind destination = MemoryKind::kUnknown;
  std::int64_t bytes = 0;
  std::int64_t destination_device = -1;
};
Copy copy_of(std::string_view name, std::string_view details);
/// The number after `key` ("size:") in such details; `fallback` when there is none.
std::int64_t detail(std::string_view details, std::string_view key, std::int64_t fallback);
/// Product of "x,y,z" after `key`; 0 when there is none.
std::uint32_t extent(std::string_view details, std::string_view key);

}  // namespace headway::trace::xplane
