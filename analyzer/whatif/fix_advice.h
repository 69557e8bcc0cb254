// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/model/finding.h"
#include "analyzer/whatif/fix.h"

namespace headway::analyzer {

/// How a fix is made in each framework: its title and the setting or call. `setting` is that of the
/// reference trainer; empty: it has none. Empty for what no setting makes.
std::vector<Advice> advice_for(const Fix& fix, std::string_view setting);

}  // namespace headway::analyzer
