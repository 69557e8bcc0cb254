// SPDX-License-Identifier: MIT
#pragma once

// The explicit list of tables: schema, writer and docs/reference/tables.md use exactly these. A
// test compares it with the files of this folder.

#include "trace/tables/call_detail.h"
#include "trace/tables/clock_anchor.h"
#include "trace/tables/collective.h"
#include "trace/tables/counter.h"
#include "trace/tables/counter_series.h"
#include "trace/tables/cuda_device.h"
#include "trace/tables/cuda_event.h"
#include "trace/tables/cuda_memory_pool.h"
#include "trace/tables/cuda_memory_usage.h"
#include "trace/tables/cuda_stream.h"
#include "trace/tables/device.h"
#include "trace/tables/device_call.h"
#include "trace/tables/device_op.h"
#include "trace/tables/device_op_detail.h"
#include "trace/tables/enum_cuda_dev_mem_event_oper.h"
#include "trace/tables/enum_cuda_mem_kind.h"
#include "trace/tables/enum_cuda_memcpy_oper.h"
#include "trace/tables/enum_cupti_overhead_type.h"
#include "trace/tables/enum_cupti_stream_type.h"
#include "trace/tables/enum_cupti_sync_type.h"
#include "trace/tables/enum_nsys_event_class.h"
#include "trace/tables/enum_nsys_event_type.h"
#include "trace/tables/graph_op.h"
#include "trace/tables/graph_trace.h"
#include "trace/tables/io.h"
#include "trace/tables/kernel.h"
#include "trace/tables/kernel_latency.h"
#include "trace/tables/loss.h"
#include "trace/tables/memcpy.h"
#include "trace/tables/memset.h"
#include "trace/tables/meta.h"
#include "trace/tables/meta_data_capture.h"
#include "trace/tables/nccl_op.h"
#include "trace/tables/nvtx_events.h"
#include "trace/tables/nvtx_payload_enum_entries.h"
#include "trace/tables/nvtx_payload_enums.h"
#include "trace/tables/nvtx_payload_schema_entries.h"
#include "trace/tables/nvtx_payload_schemas.h"
#include "trace/tables/osrt_api.h"
#include "trace/tables/overhead.h"
#include "trace/tables/process.h"
#include "trace/tables/processes.h"
#include "trace/tables/profiler_overhead.h"
#include "trace/tables/range_info.h"
#include "trace/tables/runtime.h"
#include "trace/tables/session_start.h"
#include "trace/tables/setting.h"
#include "trace/tables/stream.h"
#include "trace/tables/string_ids.h"
#include "trace/tables/synchronization.h"
#include "trace/tables/target_info_gpu.h"
#include "trace/tables/thread.h"
#include "trace/tables/thread_names.h"

namespace headway::trace {

/// Calls `f.template operator()<Table>()` for every declared table, those of Nsight Systems first.
template <class F>
void for_each_table(F&& f) {
  auto each = [&]<class... Table>(std::tuple<Table...>*) { (f.template operator()<Table>(), ...); };
  each(static_cast<std::tuple<
           tables::StringIds, tables::Processes, tables::ThreadNames, tables::SessionStart,
           tables::MetaDataCapture, tables::TargetInfoGpu, tables::CudaDevice, tables::CudaStream,
           tables::Kernel, tables::Memcpy, tables::Memset, tables::Runtime, tables::Synchronization,
           tables::EnumCudaMemcpyOper, tables::EnumCudaMemKind, tables::EnumCudaDevMemEventOper,
           tables::EnumCuptiSyncType, tables::EnumCuptiOverheadType, tables::EnumCuptiStreamType,
           tables::EnumNsysEventType, tables::EnumNsysEventClass, tables::CudaEvent,
           tables::Overhead, tables::ProfilerOverhead, tables::GraphTrace, tables::CudaMemoryUsage,
           tables::CudaMemoryPool, tables::OsrtApi, tables::NvtxEvents, tables::NvtxPayloadSchemas,
           tables::NvtxPayloadSchemaEntries, tables::NvtxPayloadEnums,
           tables::NvtxPayloadEnumEntries, tables::Meta, tables::Loss, tables::Process,
           tables::ClockAnchor, tables::CounterSeries, tables::Counter, tables::RangeInfo,
           tables::Device, tables::Stream, tables::DeviceOp, tables::DeviceCall, tables::GraphOp,
           tables::Setting, tables::Thread, tables::Collective, tables::DeviceOpDetail,
           tables::CallDetail, tables::Io, tables::KernelLatency, tables::NcclOp>*>(nullptr));
}

}  // namespace headway::trace
