# The options people may set, each with what is lost when it is off. The summary at the end of the
# configure step prints the same sentences.
option(HEADWAY_CUDA "Collect CUDA activity (needs CUPTI headers to build, a driver only to run)" ON)
option(HEADWAY_GUI "Build headway-gui (needs Qt 6)" ON)
# On where MPI is installed; its libraries do not run under sanitizers without reports of their own.
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND AND NOT HEADWAY_SANITIZE)
  set(mpi_default ON)
else()
  set(mpi_default OFF)
endif()
option(HEADWAY_MPI "Analyse many ranks in parallel, and train with them, over MPI (Open MPI or MPICH)" ${mpi_default})
option(HEADWAY_TESTS "Build the tests" ON)
option(HEADWAY_BENCH "Build the benchmarks" ON)
option(HEADWAY_UNITY "Compile many files together: cheaper from nothing, dearer after a change" OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(pch_default ON)
else()
  set(pch_default OFF)
endif()
option(HEADWAY_PCH "Precompile what most files include, where they are not compiled together" ${pch_default})
option(HEADWAY_FUZZ "Build the fuzz targets (needs clang)" OFF)
option(HEADWAY_PORTABLE "Take old versions of what glibc and libstdc++ offer, for packages that run on older systems (glibc 2.34)" OFF)
option(HEADWAY_HARDEN "Stack protectors, control-flow enforcement, _FORTIFY_SOURCE, read-only relocations: on in what users install" OFF)
option(HEADWAY_WERROR "Treat warnings as errors" OFF)
set(HEADWAY_SANITIZE "" CACHE STRING "Sanitizers for everything, e.g. address,undefined or thread")
set(HEADWAY_NVIDIA_HEADERS "auto" CACHE STRING "Where NVTX and CUPTI headers come from: auto, toolkit or wheels")
set_property(CACHE HEADWAY_NVIDIA_HEADERS PROPERTY STRINGS auto toolkit wheels)

if(HEADWAY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "HEADWAY_FUZZ=ON needs clang (libFuzzer): use the preset 'fuzz' or "
      "-DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang.")
  endif()
  # Coverage for everything that is searched; the libFuzzer main only for the fuzz targets.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()

# headway_summarise(<option> <what is lost when it is off>)
function(headway_summarise name loss)
  if(${name})
    set(line "  ${name}: on")
  else()
    set(line "  ${name}: off  -> ${loss}")
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY HEADWAY_SUMMARY "${line}\n")
endfunction()

function(headway_print_summary)
  headway_summarise(HEADWAY_CUDA
    "headway record keeps NVTX and OS data but never asks CUPTI for kernels and copies")
  headway_summarise(HEADWAY_GUI "no headway-gui, no 'headway view', no timeline pictures")
  headway_summarise(HEADWAY_MPI
    "traces of many ranks are read by one process, one after the other; headway-train has no --comm mpi")
  headway_summarise(HEADWAY_TESTS "ctest has nothing to run")
  headway_summarise(HEADWAY_BENCH "no headway_bench_* programs")
  headway_summarise(HEADWAY_HARDEN "a bug in reading foreign files is easier to use")
  headway_summarise(HEADWAY_FUZZ "no headway_fuzz_* programs; the seeds still run as tests")
  get_property(summary GLOBAL PROPERTY HEADWAY_SUMMARY)
  message(STATUS "Headway ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}\n${summary}"
    "  NVTX/CUPTI headers: ${HEADWAY_NVIDIA_HEADERS_FROM}")
endfunction()
