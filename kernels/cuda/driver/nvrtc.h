// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headway::cuda {

/// A header that generated code includes by this name, since NVRTC does not search folders.
struct CodeHeader {
  std::string_view name;
  std::string_view text;
};

/// NVRTC, the compiler of CUDA C++ at run time, loaded at run time and never unloaded. Version 13
/// or 12, not newer than the driver, which would refuse its output. NVRTC's own lock serialises
/// calls from several threads.
class Nvrtc {
 public:
  /// Returns null, with the reason and a remedy in `why`, where there is no NVRTC.
  /// `driver_version`: as in Driver, 13000 for CUDA 13.0.
  static std::unique_ptr<const Nvrtc> load(int driver_version, std::string& why);

  /// "13.0"
  std::string version() const;
  /// The target of a compilation: machine code where NVRTC knows the GPU; otherwise PTX of the
  /// newest version that NVRTC knows and the GPU can run, which the driver translates.
  struct Target {
    int capability = 0;  ///< 90: sm_90
    bool machine_code = true;
    std::string name() const;  ///< "sm_90", or "compute_90" for PTX
  };
  /// The target for a GPU of this compute capability, 10 · major + minor. Returns nothing, with the
  /// reason in `why`, when the GPU is older than all that NVRTC knows.
  std::optional<Target> target(int capability, std::string& why) const;

  /// Returns the image for cuModuleLoadData: a CUBIN, or PTX as text. Throws Error (internal) with
  /// the compiler's log, naming `name`.
  std::string compile(const std::string& name, const std::string& text,
                      std::span<const CodeHeader> headers, const Target& target) const;

 private:
  Nvrtc() = default;
  bool find_functions(void* library);
  void check(int status, const char* call) const;
  std::string log_of(void* program) const;

  using Program = void*;
  using GetSize = int(Program, std::size_t*);
  using GetText = int(Program, char*);
  const char* (*get_error_string_)(int status) = nullptr;
  int (*get_version_)(int* major, int* minor) = nullptr;
  int (*count_architectures_)(int* count) = nullptr;
  int (*get_architectures_)(int* architectures) = nullptr;
  int (*create_)(Program*, const char* text, const char* name, int headers,
                 const char* const* texts, const char* const* names) = nullptr;
  int (*compile_)(Program, int options, const char* const* text) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  GetSize* cubin_size_ = nullptr;
  GetText* cubin_ = nullptr;
  GetSize* ptx_size_ = nullptr;
  GetText* ptx_ = nullptr;
  GetSize* log_size_ = nullptr;
  GetText* log_ = nullptr;
  int major_ = 0;
  int minor_ = 0;
  std::vector<int> architectures_;  ///< ascending
};

}  // namespace headway::cuda
