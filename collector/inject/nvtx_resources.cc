// SPDX-License-Identifier: MIT
// Names that a program gives its CUDA devices and streams through NVTX. The program names a stream
// by its handle; records have CUPTI's number, which only the process itself can find.
#include "collector/inject/activity.h"
#include "collector/inject/definitions.h"
#include "collector/inject/nvtx_handlers.h"

namespace headway::inject {
namespace {

void name_device(std::int64_t device, Text name) {
  Entry entry;
  if (entry && device >= 0)
    define_resource(wire::ResourceKind::kCudaDevice, static_cast<std::uint64_t>(device), name);
}

void name_stream(void* stream, Text name) {
  std::uint32_t number = 0;
  if (!activity_stream_number(stream, number)) return;  // CUDA is not recorded here
  Entry entry;
  if (entry) define_resource(wire::ResourceKind::kCudaStream, number, name);
}

void on_device_a(int device, const char* name) {
  name_device(device, {name, nullptr});
}
void on_device_w(int device, const wchar_t* name) {
  name_device(device, {nullptr, name});
}
void on_stream_a(void* stream, const char* name) {
  name_stream(stream, {name, nullptr});
}
void on_stream_w(void* stream, const wchar_t* name) {
  name_stream(stream, {nullptr, name});
}

}  // namespace

// Names of contexts and events are not recorded: a trace has no place for them.
void fill_resource_slots(NvtxFunctionTable cuda, unsigned cuda_size, NvtxFunctionTable cudart,
                         unsigned cudart_size) {
  set_slot(cuda, cuda_size, NVTX_CBID_CUDA_NameCuDeviceA, on_device_a);
  set_slot(cuda, cuda_size, NVTX_CBID_CUDA_NameCuDeviceW, on_device_w);
  set_slot(cuda, cuda_size, NVTX_CBID_CUDA_NameCuStreamA, on_stream_a);
  set_slot(cuda, cuda_size, NVTX_CBID_CUDA_NameCuStreamW, on_stream_w);
  set_slot(cudart, cudart_size, NVTX_CBID_CUDART_NameCudaDeviceA, on_device_a);
  set_slot(cudart, cudart_size, NVTX_CBID_CUDART_NameCudaDeviceW, on_device_w);
  set_slot(cudart, cudart_size, NVTX_CBID_CUDART_NameCudaStreamA, on_stream_a);
  set_slot(cudart, cudart_size, NVTX_CBID_CUDART_NameCudaStreamW, on_stream_w);
}

}  // namespace headway::inject
