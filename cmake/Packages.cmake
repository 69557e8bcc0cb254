# Debian packages by CPack, one a component: headway (commands and injected libraries), headway-train, headway-gui.
# scripts/build_packages.sh makes them.
set(CPACK_PACKAGE_NAME headway)
set(CPACK_PACKAGE_VENDOR "Headway")
set(CPACK_PACKAGE_CONTACT "Headway maintainers <maintainers@headway.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENTS_ALL headway train)
if(HEADWAY_GUI)
  list(APPEND CPACK_COMPONENTS_ALL gui)
endif()
set(CPACK_DEBIAN_HEADWAY_PACKAGE_NAME headway)
set(CPACK_DEBIAN_TRAIN_PACKAGE_NAME headway-train)
set(CPACK_DEBIAN_GUI_PACKAGE_NAME headway-gui)
set(CPACK_COMPONENT_HEADWAY_DESCRIPTION
  "Records a training run on NVIDIA GPUs, says what holds each step back,\n and predicts what each fix would gain.")
set(CPACK_COMPONENT_TRAIN_DESCRIPTION
  "The reference trainer of Headway, in which each known bottleneck of training\n can be switched on and off.")
set(CPACK_COMPONENT_GUI_DESCRIPTION
  "The timeline of Headway: recordings of training runs, with findings, evidence\n and predicted steps.")
set(CPACK_COMPONENT_GUI_DEPENDS headway)
include(CPack)
