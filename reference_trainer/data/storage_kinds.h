// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/data/storage.h"
#include "reference_trainer/switches/choices.h"

namespace headway::trainer {

/// What that kind of storage takes; docs/user-guide/storage.md has the sources. The machine's own: nothing besides.
Storage::Speed speed_of(StorageKind kind);

}  // namespace headway::trainer
