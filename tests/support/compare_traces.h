// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace headway::test {

struct CompareOptions {
  /// Ignore all of HEADWAY_META; with false, ignore only keys that an import adds or changes.
  bool ignore_meta = false;
  bool ignore_losses = false;
};

/// The differences between two traces as sentences, at most a few of each kind; empty when the
/// traces are equal. Compares names by text and ids by what they refer to; ignores `path`.
std::vector<std::string> differences(const trace::Trace& a, const trace::Trace& b,
                                     const CompareOptions& options = {});

}  // namespace headway::test
