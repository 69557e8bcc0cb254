// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <string>

#include "kernels/cuda/cudnn/api.h"

namespace headway::cuda {

/// cuDNN 9, loaded at run time. For one thread, with the device's context current. Errors are thrown (Error).
class Cudnn {
 public:
  /// For the GPU whose context is current. Fails (bad input), saying what to install, when cuDNN is missing, is of
  /// another generation, or does not start.
  Cudnn();
  /// For plans without a GPU: `device_json` describes one as cuDNN 9.8 and newer write it down. Nothing can be run.
  explicit Cudnn(const std::string& device_json);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  /// 91900: cuDNN 9.19.0.
  std::size_t version() const { return get_version_(); }
  cudnn::Handle handle() const { return handle_; }
  /// Null on a GPU.
  cudnn::Descriptor described_device() const { return device_; }

  /// Throws naming the call, the status and what the library says about it.
  void check(cudnn::Status status, const char* call) const;
  /// What the library said last.
  std::string last_error() const;
  /// Work that is sent from now on goes to this stream. Cheap where it is the same as before.
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
