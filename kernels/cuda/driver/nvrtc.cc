// SPDX-License-Identifier: MIT
#include "kernels/cuda/driver/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "common/error.h"

namespace headway::cuda {
namespace {

constexpr int kNewest = 13;
constexpr int kOldest = 12;
constexpr const char* kAdvice =
    "add the folder of libnvrtc.so (of the toolkit, or nvidia/cuda_nvrtc/lib or nvidia/cu13/lib "
    "among the Python packages) to LD_LIBRARY_PATH";

}  // namespace

std::unique_ptr<const Nvrtc> Nvrtc::load(int driver_version, std::string& why) {
  const int newest = std::min(driver_version / 1000, kNewest);
  for (int major = newest; major >= kOldest; --major) {
    void* library = ::dlopen(fmt::format("libnvrtc.so.{}", major).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    std::unique_ptr<Nvrtc> nvrtc(new Nvrtc);
    if (nvrtc->find_functions(library)) return nvrtc;
    why = fmt::format("libnvrtc.so.{} lacks functions that NVRTC {} has", major, major);
    return nullptr;
  }
  why = newest < kOldest
            ? fmt::format("NVRTC needs a driver of CUDA {} or newer", kOldest)
            : fmt::format("NVRTC {}{} is not found: {}", kOldest,
                          newest > kOldest ? fmt::format(" or {}", newest) : "", kAdvice);
  return nullptr;
}

bool Nvrtc::find_functions(void* library) {
  bool complete = true;
  auto find = [&](auto*& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    complete &= function != nullptr;
  };
  find(get_error_string_, "nvrtcGetErrorString");
  find(get_version_, "nvrtcVersion");
  find(count_architectures_, "nvrtcGetNumSupportedArchs");
  find(get_architectures_, "nvrtcGetSupportedArchs");
  find(create_, "nvrtcCreateProgram");
  find(compile_, "nvrtcCompileProgram");
  find(destroy_, "nvrtcDestroyProgram");
  find(cubin_size_, "nvrtcGetCUBINSize");
  find(cubin_, "nvrtcGetCUBIN");
  find(ptx_size_, "nvrtcGetPTXSize");
  find(ptx_, "nvrtcGetPTX");
  find(log_size_, "nvrtcGetProgramLogSize");
  find(log_, "nvrtcGetProgramLog");
  if (!complete) return false;
  check(get_version_(&major_, &minor_), "nvrtcVersion");
  int count = 0;
  check(count_architectures_(&count), "nvrtcGetNumSupportedArchs");
  architectures_.resize(static_cast<std::size_t>(count));
  check(get_architectures_(architectures_.data()), "nvrtcGetSupportedArchs");
  std::ranges::sort(architectures_);
  return true;
}

std::string Nvrtc::version() const {
  return fmt::format("{}.{}", major_, minor_);
}

std::string Nvrtc::Target::name() const {
  return fmt::format("{}_{}", machine_code ? "sm" : "compute", capability);
}

std::optional<Nvrtc::Target> Nvrtc::target(int capability, std::string& why) const {
  const auto after = std::ranges::upper_bound(architectures_, capability);
  if (after == architectures_.begin()) {
    why = fmt::format("NVRTC {} does not compile for GPUs of compute capability {}.{}", version(),
                      capability / 10, capability % 10);
    return std::nullopt;
  }
  const int best = *std::prev(after);
  return Target{best, best == capability};
}

std::string Nvrtc::compile(const std::string& name, const std::string& text,
                           std::span<const CodeHeader> headers, const Target& target) const {
  std::vector<std::string> kept;  // with a terminating null
  for (const CodeHeader& header : headers)
    kept.insert(kept.end(), {std::string(header.name), std::string(header.text)});
  std::vector<const char*> names, texts;
  for (std::size_t i = 0; i < kept.size(); i += 2) {
    names.push_back(kept[i].c_str());
    texts.push_back(kept[i + 1].c_str());
  }
  Program made = nullptr;
  check(create_(&made, text.c_str(), (name + ".cu").c_str(), static_cast<int>(names.size()),
                texts.data(), names.data()),
        "nvrtcCreateProgram");
  auto destroy = [this](Program* program) { destroy_(program); };
  const std::unique_ptr<Program, decltype(destroy)> program(&made, destroy);
  const std::string architecture = "--gpu-architecture=" + target.name();
  const char* const options[] = {architecture.c_str(), "--std=c++17"};
  const int status = compile_(made, static_cast<int>(std::size(options)), options);
  if (status != 0)
    fail_internal("NVRTC {} cannot compile {} for {} ({}): {}", version(), name, target.name(),
                  get_error_string_(status), log_of(made));
  std::size_t size = 0;
  check((target.machine_code ? cubin_size_ : ptx_size_)(made, &size), "the size of an image");
  std::string image(size, '\0');
  check((target.machine_code ? cubin_ : ptx_)(made, image.data()), "reading an image");
  return image;
}

std::string Nvrtc::log_of(Program program) const {
  std::size_t size = 0;
  if (log_size_(program, &size) != 0 || size == 0) return "no log";
  std::string log(size, '\0');
  if (log_(program, log.data()) != 0) return "no log";
  log.resize(std::min<std::size_t>(log.find('\0'), 2000));  // the first errors suffice
  log.resize(log.find_last_not_of('\n') + 1);
  return log;
}

void Nvrtc::check(int status, const char* call) const {
  if (status != 0) fail_internal("NVRTC: {} failed: {}", call, get_error_string_(status));
}

}  // namespace headway::cuda
