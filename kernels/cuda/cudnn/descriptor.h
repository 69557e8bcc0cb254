// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "kernels/cuda/cudnn/library.h"

namespace headway::cuda {

/// Owns one descriptor of cuDNN's backend interface. The library must outlive it. Throws errors of
/// cuDNN.
class CudnnDescriptor {
 public:
  CudnnDescriptor() = default;
  CudnnDescriptor(const Cudnn& library, cudnn::DescriptorType type) : library_(&library) {
    library.check(library.create_descriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
  }
  ~CudnnDescriptor() {
    if (descriptor_) library_->destroy_descriptor(descriptor_);
  }
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : library_(other.library_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept {
    std::swap(library_, other.library_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  cudnn::Descriptor get() const { return descriptor_; }

  template <class T>
  CudnnDescriptor& set(cudnn::Attribute name, cudnn::AttributeType type,
                       std::initializer_list<T> elements) {
    const cudnn::Status status = library_->set_attribute(
        descriptor_, name, type, static_cast<std::int64_t>(elements.size()), elements.begin());
    if (status != cudnn::Status::kSuccess)
      library_->check(status, fmt::format("attribute {}", static_cast<int>(name)).c_str());
    return *this;
  }
  CudnnDescriptor& set(cudnn::Attribute name, std::initializer_list<std::int64_t> elements) {
    return set(name, cudnn::AttributeType::kInt64, elements);
  }
  CudnnDescriptor& set(cudnn::Attribute name, const CudnnDescriptor& other) {
    return set(name, cudnn::AttributeType::kDescriptor, {other.get()});
  }
  cudnn::Status try_finalize() { return library_->finalize(descriptor_); }
  void finalize(const char* what) { library_->check(try_finalize(), what); }

 private:
  const Cudnn* library_ = nullptr;
  cudnn::Descriptor descriptor_ = nullptr;
};

}  // namespace headway::cuda
