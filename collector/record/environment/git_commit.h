// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace headway::record {

/// The commit that is checked out in the Git repository that `folder` is in, as hexadecimal digits;
/// empty without a repository. Reads the repository's files and starts no program. Never throws.
std::string checked_out_commit(const std::filesystem::path& folder);

}  // namespace headway::record
