// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/planted/quality/score.h"

namespace headway::planted {

/// File name -> text of docs/rules/: quality.md and one page per rule, made of the rule's
/// declaration, the head comment of its source in `sources`, its cases and its scores. Throws
/// Error(kBadInput) when a head comment lacks a part.
std::map<std::string, std::string> make_pages(const std::vector<CheckedCase>& cases,
                                              const std::vector<Score>& scores,
                                              const std::filesystem::path& sources);

}  // namespace headway::planted
