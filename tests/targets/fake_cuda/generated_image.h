// SPDX-License-Identifier: MIT
// What stands for a CUBIN between fake_nvrtc.cc and fake_cuda.cc: a line, and the path of a library with the kernels.
#pragma once

#include <cstring>

namespace emulator {

inline constexpr char kGeneratedImage[] = "library of emulated kernels:\n";

/// The path, or null when the image is another one.
inline const char* generated_library(const char* image) {
  constexpr std::size_t kBytes = sizeof kGeneratedImage - 1;
  return std::strncmp(image, kGeneratedImage, kBytes) == 0 ? image + kBytes : nullptr;
}

}  // namespace emulator
