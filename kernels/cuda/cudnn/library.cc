// SPDX-License-Identifier: MIT
#include "kernels/cuda/cudnn/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "common/error.h"

namespace headway::cuda {
namespace {

constexpr const char* kLibrary = "libcudnn.so.9";
constexpr const char* kAdvice =
    "install cuDNN 9 for the driver's CUDA (Python: nvidia-cudnn-cu13 or nvidia-cudnn-cu12), and "
    "add its folder, and that of cuBLASLt and NVRTC, to LD_LIBRARY_PATH";

}  // namespace

template <class Function>
void Cudnn::find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(library_, name));
  if (!function) fail_input("{} has no {}: {}.", kLibrary, name, kAdvice);
}

void Cudnn::load() {
  library_ = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // never unloaded: it runs its own threads
  if (!library_)
    fail_input("{} is not found ({}), which convolutions on the CUDA device need: {}.", kLibrary,
               ::dlerror(), kAdvice);
  find(get_version_, "cudnnGetVersion");
  constexpr std::size_t kGeneration = 10'000;  // major version's factor in version(), since cuDNN 9
  if (version() / kGeneration != 9)
    fail_input("{} says that it is version {}, not 9 (90000 to 99999): {}.", kLibrary, version(),
               kAdvice);
  find(get_last_error_string_, "cudnnGetLastErrorString");
  find(create_, "cudnnCreate");
  find(destroy_, "cudnnDestroy");
  find(set_stream_, "cudnnSetStream");
  find(create_descriptor, "cudnnBackendCreateDescriptor");
  find(destroy_descriptor, "cudnnBackendDestroyDescriptor");
  find(set_attribute, "cudnnBackendSetAttribute");
  find(get_attribute, "cudnnBackendGetAttribute");
  find(finalize, "cudnnBackendFinalize");
  find(execute, "cudnnBackendExecute");
}

Cudnn::Cudnn() {
  load();
  check(create_(&handle_), "cudnnCreate");
}

Cudnn::Cudnn(const std::string& device_json) {
  using namespace cudnn;
  load();
  check(create_descriptor(DescriptorType::kDeviceProperties, &device_), "a device's description");
  check(set_attribute(device_, Attribute::kDeviceJson, AttributeType::kCharacter,
                      static_cast<std::int64_t>(device_json.size() + 1), device_json.c_str()),
        "a device's description");
  check(finalize(device_), "a device's description");
}

/// A failure here follows an earlier one, and a destructor cannot report it.
Cudnn::~Cudnn() {
  if (device_) destroy_descriptor(device_);
  if (handle_) destroy_(handle_);
}

std::string Cudnn::last_error() const {
  char text[512] = "";
  get_last_error_string_(text, sizeof text);
  return text;
}

void Cudnn::check(cudnn::Status status, const char* call) const {
  if (status == cudnn::Status::kSuccess) return;
  fail_internal("cuDNN {}: {} failed with status {} ({}).", version(), call,
                static_cast<int>(status), last_error());
}

void Cudnn::use_stream(CUstream stream) const {
  if (stream == stream_) return;
  check(set_stream_(handle_, stream), "cudnnSetStream");
  stream_ = stream;
}

}  // namespace headway::cuda
