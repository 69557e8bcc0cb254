# Debian packages by CPack, one a component: headway (commands and injected libraries), headway-train, headway-gui.
# scripts/build_packages.sh makes them, and the wheels.
set(CPACK_PACKAGE_NAME headway)
set(CPACK_PACKAGE_VENDOR "Headway")
# Who makes the packages signs them, with the variables of Debian's own tools; nobody else has an address to give.
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBEMAIL}")
  if(DEFINED ENV{DEBFULLNAME})
    set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
  endif()
else()
  set(CPACK_PACKAGE_CONTACT "The Headway authors <headway@localhost>")
endif()
# Else CPack puts the project's in front of what each package says.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_NAME} built using CMake")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# What CMake makes has the rights of whoever builds, of which Debian's are a part.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL headway train)
if(HEADWAY_GUI)
  list(APPEND CPACK_COMPONENTS_ALL gui)
endif()
set(CPACK_DEBIAN_HEADWAY_PACKAGE_NAME headway)
set(CPACK_DEBIAN_TRAIN_PACKAGE_NAME headway-train)
set(CPACK_DEBIAN_GUI_PACKAGE_NAME headway-gui)
set(CPACK_COMPONENT_HEADWAY_DESCRIPTION
  "tells what holds each training step on GPUs back\nRecords any training command, says where the time of each step goes, what\nholds it back, and predicts what each known fix would gain.")
set(CPACK_COMPONENT_TRAIN_DESCRIPTION
  "reference trainer of Headway, with switches for bottlenecks\nEach known bottleneck of training can be switched on and off: in real training\non the processor or a GPU, or on a simulated GPU.")
set(CPACK_COMPONENT_GUI_DESCRIPTION
  "timeline of training runs recorded by Headway\nShows recordings with findings, their evidence and predicted steps; also makes\npictures without a display.")
set(CPACK_COMPONENT_GUI_DEPENDS headway)
set(CPACK_DEBIAN_HEADWAY_PACKAGE_SUGGESTS "headway-gui, headway-train, python3")
set(CPACK_DEBIAN_TRAIN_PACKAGE_RECOMMENDS "headway")
set(CPACK_DEBIAN_TRAIN_PACKAGE_SUGGESTS "dataset-fashion-mnist")
set(CPACK_DEBIAN_HEADWAY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)

# What Debian wants to know of each package: its licence, and its changes in the form of dpkg.
if(NOT SKBUILD)
  file(READ ${PROJECT_SOURCE_DIR}/LICENSE licence)
  string(REGEX REPLACE "^MIT License\n\n(Copyright[^\n]*)\n\n" "" terms "${licence}")
  string(REGEX MATCH "Copyright[^\n]*" holder "${licence}")
  string(REPLACE "Copyright (c) " "" holder "${holder}")
  string(STRIP "${terms}" terms)
  string(REPLACE "\n\n" "\n.\n" terms "${terms}")
  string(REPLACE "\n" "\n " terms "${terms}")
  file(WRITE ${CMAKE_BINARY_DIR}/debian/copyright
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: headway\n\n"
    "Files: *\nCopyright: ${holder}\nLicense: Expat\n ${terms}\n")
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    set(changes ${CMAKE_BINARY_DIR}/debian/${package})
    file(WRITE ${changes}/changelog.Debian
      "${package} (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
      "  * Version ${PROJECT_VERSION}; its CHANGELOG.md says what is in it.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    install(CODE "
      execute_process(COMMAND gzip -9nf --keep \"${changes}/changelog.Debian\" COMMAND_ERROR_IS_FATAL ANY)"
      COMPONENT ${component})
    install(FILES ${CMAKE_BINARY_DIR}/debian/copyright ${changes}/changelog.Debian.gz
      DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  endforeach()
endif()
include(CPack)
