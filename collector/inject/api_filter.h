// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace headway::inject {

/// A function of the CUDA API by the number that CUPTI gives it (part of CUPTI's ABI).
struct ApiFunction {
  std::uint32_t cbid;
  const char* name;
};

/// Calls of the runtime API that are not recorded: cheap questions, asked before every launch or
/// polled in a loop. They wait for nothing and explain nothing, and are up to half of all calls.
inline constexpr ApiFunction kLeftOutRuntimeCalls[] = {
    {10, "cudaGetLastError_v3020"},
    {11, "cudaPeekAtLastError_v3020"},
    {15, "cudaFuncGetAttributes_v3020"},
    {16, "cudaSetDevice_v3020"},
    {17, "cudaGetDevice_v3020"},
    {133, "cudaEventCreate_v3020"},
    {134, "cudaEventCreateWithFlags_v3020"},
    {136, "cudaEventDestroy_v3020"},
    {138, "cudaEventQuery_v3020"},  // polled by caching allocators and watchdogs
    {151, "cudaPointerGetAttributes_v4000"},
    {200, "cudaDeviceGetAttribute_v5000"},
    {203, "cudaStreamGetPriority_v5050"},
    {237, "cudaStreamGetPriority_ptsz_v7000"},
    {210, "cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050"},
    {251, "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000"},
    {317, "cudaStreamIsCapturing_v10000"},
    {318, "cudaStreamIsCapturing_ptsz_v10000"},
    {324, "cudaStreamGetCaptureInfo_v10010"},
    {327, "cudaThreadExchangeStreamCaptureMode_v10010"},
    {409, "cudaStreamGetCaptureInfo_v2_v11030"},
    {410, "cudaStreamGetCaptureInfo_v2_ptsz_v11030"},
    {461, "cudaStreamGetCaptureInfo_v12030"},
    {462, "cudaStreamGetCaptureInfo_ptsz_v12030"},
};

/// Calls of the driver API that are recorded: those that Triton, CUTLASS and JAX make directly.
/// Recording every driver call would record each runtime call twice, because the runtime calls the
/// driver.
inline constexpr ApiFunction kRecordedDriverCalls[] = {
    {307, "cuLaunchKernel"},
    {442, "cuLaunchKernel_ptsz"},
    {652, "cuLaunchKernelEx"},
    {653, "cuLaunchKernelEx_ptsz"},
    {477, "cuLaunchCooperativeKernel"},
    {478, "cuLaunchCooperativeKernel_ptsz"},
    {514, "cuGraphLaunch"},
    {515, "cuGraphLaunch_ptsz"},
    {276, "cuMemcpyHtoD_v2"},
    {277, "cuMemcpyHtoDAsync_v2"},
    {421, "cuMemcpyHtoDAsync_v2_ptsz"},
    {278, "cuMemcpyDtoH_v2"},
    {279, "cuMemcpyDtoHAsync_v2"},
    {422, "cuMemcpyDtoHAsync_v2_ptsz"},
    {281, "cuMemcpyDtoDAsync_v2"},
    {423, "cuMemcpyDtoDAsync_v2_ptsz"},
    {306, "cuMemcpyAsync"},
    {418, "cuMemcpyAsync_ptsz"},
    {319, "cuMemcpyPeerAsync"},
    {426, "cuMemcpyPeerAsync_ptsz"},
    {216, "cuMemsetD8Async"},
    {428, "cuMemsetD8Async_ptsz"},
    {220, "cuMemsetD32Async"},
    {430, "cuMemsetD32Async_ptsz"},
    {119, "cuEventRecord"},
    {441, "cuEventRecord_ptsz"},
    {295, "cuStreamWaitEvent"},
    {436, "cuStreamWaitEvent_ptsz"},
    {121, "cuEventSynchronize"},
    {126, "cuStreamSynchronize"},
    {440, "cuStreamSynchronize_ptsz"},
    {17, "cuCtxSynchronize"},
    {243, "cuMemAlloc_v2"},
    {245, "cuMemFree_v2"},
    {598, "cuMemAllocAsync"},
    {599, "cuMemAllocAsync_ptsz"},
    {600, "cuMemFreeAsync"},
    {601, "cuMemFreeAsync_ptsz"},
    {39, "cuMemHostAlloc"},
    {549, "cuMemCreate"},
    {550, "cuMemRelease"},
    {551, "cuMemMap"},
    {552, "cuMemUnmap"},
    {553, "cuMemSetAccess"},
    {19, "cuModuleLoadData"},
    {20, "cuModuleLoadDataEx"},
    {678, "cuLibraryLoadData"},
};

}  // namespace headway::inject
