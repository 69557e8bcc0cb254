# Warnings as a target that only our own code links, sanitizers for the whole build, ccache when there.
add_library(headway_warnings INTERFACE)
add_library(headway::warnings ALIAS headway_warnings)
target_compile_options(headway_warnings INTERFACE
  -Wall -Wextra
  # Files that are compiled together see each other's names.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  -Wnon-virtual-dtor -Wcast-align -Wunused -Woverloaded-virtual -Wformat=2
  -Wimplicit-fallthrough
  # False alarms of GCC 12: uninitialised values in every std::optional that is read after inlining (GCC bug
  # 80635), overlapping copies in std::string concatenation at -O3 (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${HEADWAY_WERROR}>:-Werror>)

# What makes a bug that slips through harder to use. Sanitizers bring checks of their own, which these hide.
if(HEADWAY_HARDEN AND NOT HEADWAY_SANITIZE AND NOT HEADWAY_FUZZ)
  include(CheckCXXCompilerFlag)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
    string(MAKE_C_IDENTIFIER "HEADWAY_HAS${flag}" has)
    check_cxx_compiler_flag(${flag} ${has})
    if(${has})
      add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:${flag}>)
    endif()
  endforeach()
  # It needs optimisation. Whoever sets a level of their own keeps it.
  if(NOT CMAKE_CXX_FLAGS MATCHES "_FORTIFY_SOURCE")
    add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<NOT:$<CONFIG:Debug>>>:-D_FORTIFY_SOURCE=2>")
  endif()
  add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()

if(HEADWAY_SANITIZE)
  add_compile_options(-fsanitize=${HEADWAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEADWAY_SANITIZE})
endif()

# Compiled together is compiled to be run, not to be changed. Line numbers would take 1.6 of the 2.1 GB of build/dev.
if(HEADWAY_UNITY AND NOT HEADWAY_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-g0>)
endif()

# headway_make_portable(<program>): takes old versions of what the C and C++ library have in a new one.
function(headway_make_portable program)
  if(HEADWAY_PORTABLE)
    target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/portable.cc)
    target_link_options(${program} PRIVATE
      -Wl,--wrap=hypot,--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)
  endif()
endfunction()

find_program(HEADWAY_CCACHE ccache)
if(HEADWAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are cached with this only.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${HEADWAY_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${HEADWAY_CCACHE})
endif()

# headway_build_cheaply(<target> [header...]), after its sources and options are known. With
# HEADWAY_UNITY files that have no names in common are compiled together: what many include is read
# once. Large targets precompile the standard library, fmt and the headers named.
function(headway_build_cheaply target)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  set(worth_precompiling 12)  # making the header costs as much as three files
  if(HEADWAY_UNITY)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(script ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
    execute_process(COMMAND ${Python3_EXECUTABLE} ${script} ${CMAKE_CURRENT_SOURCE_DIR} ${sources}
      OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    # An empty group would be one, too: files that are alone stay out.
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    string(REPLACE "\n" ";" groups "${groups}")
    set(names)
    foreach(line IN LISTS groups)
      string(REPLACE " " ";" fields "${line}")
      list(GET fields 0 group)
      list(GET fields 1 source)
      list(APPEND names ${group})
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group} SKIP_UNITY_BUILD_INCLUSION OFF)
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    list(LENGTH names grouped)
    list(REMOVE_DUPLICATES names)
    list(LENGTH names together)
    math(EXPR count "${count} - ${grouped} + ${together}")
    set(worth_precompiling 40)  # of a unit, what it includes is a smaller part
  endif()
  if(HEADWAY_PCH AND count GREATER_EQUAL worth_precompiling)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstdlib> <cstring> <deque>
      <filesystem> <fstream> <functional> <map> <memory> <mutex> <numeric> <optional> <random> <set>
      <span> <sstream> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant>
      <vector> <fmt/format.h> ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fpch-preprocess)  # for ccache
    endif()
  endif()
endfunction()
