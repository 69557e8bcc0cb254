// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/data/storage.h"
#include "reference_trainer/switches/choices.h"

namespace headway::trainer {

/// Latency and bandwidth of that kind of storage; docs/user-guide/storage.md has the sources. The
/// machine's own storage adds nothing.
Storage::Speed speed_of(StorageKind kind);

}  // namespace headway::trainer
