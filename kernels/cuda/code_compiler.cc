// SPDX-License-Identifier: MIT
#include "kernels/cuda/code_compiler.h"

#include <map>
#include <mutex>

namespace headway::kernels::cuda {
namespace {

/// Compiled images by target and code: a process that opens its GPU again does not compile again.
std::mutex g_mutex;
std::map<std::string, std::string> g_images;

}  // namespace

std::unique_ptr<const CodeCompiler> CodeCompiler::load(const headway::cuda::Context& context,
                                                       std::string& why) {
  std::unique_ptr<const headway::cuda::Nvrtc> nvrtc =
      headway::cuda::Nvrtc::load(context.driver().version, why);
  if (!nvrtc) return nullptr;
  const auto target = nvrtc->target(context.compute_capability(), why);
  if (!target) return nullptr;
  return std::unique_ptr<const CodeCompiler>(new CodeCompiler(std::move(nvrtc), *target));
}

std::string CodeCompiler::compile(const std::string& kernel, const std::string& code) const {
  const std::scoped_lock lock(g_mutex);
  const std::string key = target_.name() + '\n' + code;
  if (const auto found = g_images.find(key); found != g_images.end()) return found->second;
  return g_images[key] = nvrtc_->compile(kernel, code, code_headers(), target_);
}

}  // namespace headway::kernels::cuda
