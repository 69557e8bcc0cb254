# Target DNNL::dnnl. Debian's dnnl-config.cmake insists on OpenCL's development files, which oneDNN's CPU
# engine does not need, so the header and the library are looked for directly.
find_path(DNNL_INCLUDE_DIR dnnl.hpp PATH_SUFFIXES oneapi/dnnl)
find_library(DNNL_LIBRARY dnnl)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDnn REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR)
if(OneDnn_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
endif()
