// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/model/finding.h"
#include "analyzer/whatif/fix.h"

namespace headway::analyzer {

/// How to make a fix in each framework: its title and the setting or call. `setting`: that of the
/// reference trainer; empty: none. The result is empty if no setting makes the fix.
std::vector<Advice> advice_for(const Fix& fix, std::string_view setting);

}  // namespace headway::analyzer
