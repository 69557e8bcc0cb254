// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace headway::inject {

/// The one thing in Headway that calls CUPTI; tests put a fake in its place. libcupti is looked up
/// at run time, never linked: the library has to load in programs and on machines without CUDA.
class Cupti {
 public:
  /// Null when CUPTI can be called, else why not.
  virtual const char* open() = 0;
  /// CUPTI_API_VERSION of the library, e.g. 130001; 0 unknown.
  virtual std::uint32_t version() = 0;
  /// 0, or CUPTI's error: another profiler in this process, no driver, no permission.
  virtual int subscribe() = 0;
  virtual void unsubscribe() = 0;
  /// CUPTI's name for an error; null when it knows none.
  virtual const char* result_text(int result) = 0;

 protected:
  ~Cupti() = default;  // never destroyed through this
};

/// The real one, or one that says that this build has none (HEADWAY_CUDA=OFF).
Cupti& installed_cupti();

}  // namespace headway::inject
