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

/// A header that generated code includes by this name: NVRTC sees no folders.
struct CodeHeader {
  std::string_view name;
  std::string_view text;
};

/// NVRTC, the compiler of CUDA C++ at run time, loaded at run time and never unloaded: version 13 or 12, no newer than the
/// driver, which would refuse what it makes. Its own lock makes calls from several threads wait for one another.
class Nvrtc {
 public:
  /// Null, with the reason and what to do in `why`, where there is none. `driver_version`: as in Driver, 13000 for CUDA 13.0.
  static std::unique_ptr<const Nvrtc> load(int driver_version, std::string& why);

  /// "13.0"
  std::string version() const;
  /// What to compile for: machine code where NVRTC knows the GPU, else PTX of the newest that it knows and the GPU can run,
  /// which the driver translates.
  struct Target {
    int capability = 0;  ///< 90: sm_90
    bool machine_code = true;
    std::string name() const;  ///< "sm_90", or "compute_90" for PTX
  };
  /// For a GPU of that compute capability, 10 · major + minor; none, with the reason in `why`, when it is older than all that NVRTC
  /// knows.
  std::optional<Target> target(int capability, std::string& why) const;

  /// The image for cuModuleLoadData: a CUBIN, or PTX as text. Throws Error (internal) with the compiler's log, naming `name`.
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
