// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/analyzer/planted_run.h"

namespace headway::test {

/// A name with special characters of every output format: HTML, XML, Markdown, terminals,
/// spreadsheets, SARIF placeholders and links; also a change of text direction, and bytes that are
/// not UTF-8.
inline const std::string kHostileName =
    "=cmd|'/C calc'!A0<script>alert(1)</script><img src=x onerror=y>\"'&|`x`[l](javascript:z){0}"
    "\x1b[2J\x1b]0;t\x07\x01\b\r\n# heading\u202Egnp\uFFFE\xff\xc3(";

/// Named runs of different kinds. Every report format must handle all of them.
std::vector<std::pair<std::string, std::unique_ptr<AnalyzedRun>>> runs_of_all_kinds();

/// A run in which every text that a program can choose is `name`.
std::unique_ptr<AnalyzedRun> hostile_run(std::string_view name);

}  // namespace headway::test
