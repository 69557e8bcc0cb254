# Writes HEADER with the commit of SOURCE, if it changed; sources without a repository have none.
set(text "")
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --exclude=* --abbrev=10
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
  if(result EQUAL 0)
    set(text " (${commit})")
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[// SPDX-License-Identifier: MIT
// Made by cli/commit.cmake.
#pragma once

namespace headway::cli {
inline constexpr const char* kCommit = "@text@";
}  // namespace headway::cli
]])
