// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>

#include "kernels/cuda/driver/context.h"
#include "kernels/cuda/driver/nvrtc.h"

namespace headway::kernels::cuda {

/// Compiles generated code for one GPU by NVRTC, each text once per process. Thread safe.
class CodeCompiler {
 public:
  /// Returns null, with the reason and a remedy in `why`, where there is no NVRTC for this GPU and
  /// its driver.
  static std::unique_ptr<const CodeCompiler> load(const headway::cuda::Context& context,
                                                  std::string& why);

  /// Returns the image of `code`, which must contain `kernel`. Throws Error (internal) with the
  /// compiler's log.
  std::string compile(const std::string& kernel, const std::string& code) const;

 private:
  CodeCompiler(std::unique_ptr<const headway::cuda::Nvrtc> nvrtc,
               headway::cuda::Nvrtc::Target target)
      : nvrtc_(std::move(nvrtc)), target_(target) {}

  std::unique_ptr<const headway::cuda::Nvrtc> nvrtc_;
  headway::cuda::Nvrtc::Target target_;
};

/// The headers that generated code may include: files of this folder, which its other kernels also
/// use.
std::span<const headway::cuda::CodeHeader> code_headers();

}  // namespace headway::kernels::cuda
