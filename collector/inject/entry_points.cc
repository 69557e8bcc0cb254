// SPDX-License-Identifier: MIT
// The functions that NVTX and the CUDA driver look up by name. NVTX calls its functions once for
// every library of the program that embeds NVTX, so all are idempotent. They always return 1: 0 makes
// NVTX unload this library while threads may run in it.
#include <cerrno>

#include "collector/inject/activity.h"
#include "collector/inject/cuda.h"
#include "collector/inject/nvtx_handlers.h"

#define HEADWAY_EXPORT extern "C" __attribute__((visibility("default")))

HEADWAY_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  // When recording is off, the tables stay empty, and NVTX costs what it costs without a tool.
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

/// For hooks that know where a step begins: they leave the device work of some steps unrecorded to measure what
/// recording costs (pause_activity() in activity.h). Returns 1 when the state changed.
HEADWAY_EXPORT int headway_pause_cuda(int pause) {
  int saved = errno;
  const bool changed = headway::inject::pause_activity(pause != 0);
  errno = saved;
  return changed ? 1 : 0;
}
