// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace headway::test {

struct CompareOptions {
  /// Keys of HEADWAY_META that an import adds are left out; with false, all other keys count.
  bool ignore_meta = false;
  bool ignore_losses = false;
};

/// Everything in which two traces differ, at most a few of each kind, as sentences; empty when they
/// are equal. Names are compared by text, ids by what they stand for; `path` is not compared.
std::vector<std::string> differences(const trace::Trace& a, const trace::Trace& b,
                                     const CompareOptions& options = {});

}  // namespace headway::test
