# Targets headway::nvtx_headers and headway::cupti_headers: from the CUDA toolkit where there is one with
# both, else from the pinned PyPI wheels of cmake/nvidia_wheels.txt, unpacked into the build tree.
# HEADWAY_NVIDIA_HEADERS = auto | toolkit | wheels decides. Headers only: the libraries are dlopened at run time.

function(headway_unpack_nvidia_wheels out)
  set(dir ${CMAKE_BINARY_DIR}/nvidia-headers)
  set(requirements ${PROJECT_SOURCE_DIR}/cmake/nvidia_wheels.txt)
  file(SHA256 ${requirements} pin)
  if(NOT EXISTS ${dir}/${pin})
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    message(STATUS "Fetching the NVTX and CUPTI headers (cmake/nvidia_wheels.txt)")
    file(REMOVE_RECURSE ${dir})
    execute_process(
      COMMAND ${Python3_EXECUTABLE} -m pip download --quiet --disable-pip-version-check --no-deps
              --only-binary=:all: --require-hashes --requirement ${requirements} --dest ${dir}/wheels
      RESULT_VARIABLE result)
    if(result)
      message(FATAL_ERROR
        "Could not fetch the pinned wheels of cmake/nvidia_wheels.txt with '${Python3_EXECUTABLE} -m pip download'. "
        "Check the network and that pip is installed (Debian: python3-pip), or install the CUDA toolkit "
        "and configure with -DHEADWAY_NVIDIA_HEADERS=toolkit.")
    endif()
    file(GLOB wheels ${dir}/wheels/*.whl)
    foreach(wheel IN LISTS wheels)
      file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${dir} PATTERNS "nvidia/cu13/include/*")
    endforeach()
    file(REMOVE_RECURSE ${dir}/wheels)
    file(TOUCH ${dir}/${pin})
  endif()
  set(${out} ${dir}/nvidia/cu13/include PARENT_SCOPE)
endfunction()

set(_nvtx)
if(NOT HEADWAY_NVIDIA_HEADERS STREQUAL "wheels")
  find_path(HEADWAY_TOOLKIT_INCLUDE nvtx3/nvToolsExtPayload.h
    HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include NO_CACHE)
  find_path(HEADWAY_CUPTI_INCLUDE cupti.h
    HINTS ${HEADWAY_TOOLKIT_INCLUDE} ${HEADWAY_TOOLKIT_INCLUDE}/../extras/CUPTI/include NO_CACHE)
  if(HEADWAY_TOOLKIT_INCLUDE AND HEADWAY_CUPTI_INCLUDE)
    set(_nvtx ${HEADWAY_TOOLKIT_INCLUDE})
    set(_cupti ${HEADWAY_CUPTI_INCLUDE} ${HEADWAY_TOOLKIT_INCLUDE})
    set(HEADWAY_NVIDIA_HEADERS_FROM "CUDA toolkit (${_nvtx})")
  elseif(HEADWAY_NVIDIA_HEADERS STREQUAL "toolkit")
    message(FATAL_ERROR "HEADWAY_NVIDIA_HEADERS=toolkit, but no toolkit with nvtx3/nvToolsExtPayload.h and cupti.h "
      "was found in CUDA_HOME, CUDA_PATH or /usr/local/cuda. Use -DHEADWAY_NVIDIA_HEADERS=wheels.")
  endif()
endif()
if(NOT _nvtx)
  headway_unpack_nvidia_wheels(_nvtx)
  set(_cupti ${_nvtx})
  set(HEADWAY_NVIDIA_HEADERS_FROM "PyPI wheels (cmake/nvidia_wheels.txt)")
endif()

# SYSTEM: their headers do not build warning-free under our warnings.
add_library(headway_nvtx_headers INTERFACE)
target_include_directories(headway_nvtx_headers SYSTEM INTERFACE ${_nvtx})
target_link_libraries(headway_nvtx_headers INTERFACE ${CMAKE_DL_LIBS})
add_library(headway::nvtx_headers ALIAS headway_nvtx_headers)
add_library(headway_cupti_headers INTERFACE)
target_include_directories(headway_cupti_headers SYSTEM INTERFACE ${_cupti})
add_library(headway::cupti_headers ALIAS headway_cupti_headers)
