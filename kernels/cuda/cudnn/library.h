// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <string>

#include "kernels/cuda/cudnn/api.h"

namespace headway::cuda {

/// cuDNN 9, loaded at run time. For one thread, with the device's context current. Throws errors
/// (Error).
class Cudnn {
 public:
  /// For the GPU whose context is current. Throws Error (bad input), saying what to install, when
  /// cuDNN is missing, has another major version, or does not start.
  Cudnn();
  /// For plans without a GPU: `device_json` describes one, in the form that cuDNN 9.8 and newer
  /// write. Nothing can be run.
  explicit Cudnn(const std::string& device_json);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  /// 91900: cuDNN 9.19.0.
  std::size_t version() const { return get_version_(); }
  cudnn::Handle handle() const { return handle_; }
  /// Null on a GPU.
  cudnn::Descriptor described_device() const { return device_; }

  /// Throws Error naming the call, the status and the library's message.
  void check(cudnn::Status status, const char* call) const;
  /// The library's last message.
  std::string last_error() const;
  /// Later work goes to this stream. Cheap when the stream has not changed.
  void use_stream(CUstream stream) const;

  cudnn::CreateDescriptor* create_descriptor;
  cudnn::DestroyDescriptor* destroy_descriptor;
  cudnn::SetAttribute* set_attribute;
  cudnn::GetAttribute* get_attribute;
  cudnn::Finalize* finalize;
  cudnn::Execute* execute;

 private:
  void load();
  template <class Function>
  void find(Function*& function, const char* name);

  void* library_ = nullptr;
  cudnn::GetVersion* get_version_ = nullptr;
  cudnn::GetLastErrorString* get_last_error_string_ = nullptr;
  cudnn::Create* create_ = nullptr;
  cudnn::Destroy* destroy_ = nullptr;
  cudnn::SetStream* set_stream_ = nullptr;
  cudnn::Handle handle_ = nullptr;
  cudnn::Descriptor device_ = nullptr;
  mutable CUstream stream_ = nullptr;
};

}  // namespace headway::cuda
