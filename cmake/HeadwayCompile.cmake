# Warnings as a target that only our own code links, sanitizers for the whole build, ccache when there.
add_library(headway_warnings INTERFACE)
add_library(headway::warnings ALIAS headway_warnings)
target_compile_options(headway_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wcast-align -Wunused -Woverloaded-virtual -Wformat=2
  -Wimplicit-fallthrough
  # False alarms of GCC 12: uninitialised values in every std::optional that is read after inlining (GCC bug
  # 80635), overlapping copies in std::string concatenation at -O3 (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${HEADWAY_WERROR}>:-Werror>)

if(HEADWAY_SANITIZE)
  add_compile_options(-fsanitize=${HEADWAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEADWAY_SANITIZE})
endif()

if(HEADWAY_PORTABLE)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

find_program(HEADWAY_CCACHE ccache)
if(HEADWAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HEADWAY_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${HEADWAY_CCACHE})
endif()
