// SPDX-License-Identifier: MIT
// What NVTX and the CUDA driver look up by name. Called once for every library of the program that
// embeds NVTX, so all of them are idempotent; always 1, because 0 makes NVTX unload this library
// under the feet of threads that run in it.
#include <cerrno>

#include "collector/inject/activity.h"
#include "collector/inject/cuda.h"
#include "collector/inject/nvtx_handlers.h"

#define HEADWAY_EXPORT extern "C" __attribute__((visibility("default")))

HEADWAY_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  // Off: the tables stay empty, and NVTX costs the program what it costs without a tool.
  if (headway::inject::start_recording()) headway::inject::install_handlers(get_export_table);
  return 1;
}

HEADWAY_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (module && headway::inject::start_recording()) headway::inject::install_extension(*module);
  return 1;
}

/// CUDA_INJECTION64_PATH: called by the driver inside the program's first cuInit.
HEADWAY_EXPORT int InitializeInjection() {
  int saved = errno;
  if (headway::inject::start_recording())
    headway::inject::start_cuda(headway::inject::installed_cupti());
  errno = saved;
  return 1;
}

/// For hooks that know where a step begins: device work of some steps stays unrecorded, which tells what recording costs
/// (activity.h). 1 when that changed anything.
HEADWAY_EXPORT int headway_pause_cuda(int pause) {
  int saved = errno;
  const bool changed = headway::inject::pause_activity(pause != 0);
  errno = saved;
  return changed ? 1 : 0;
}
