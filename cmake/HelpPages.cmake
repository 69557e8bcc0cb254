# headway_help_pages(<program> <component>): installs man pages and completions of bash, zsh and fish, which
# cmake/help_pages.py makes from what the program says with --help. They are made when they are installed.
if(SKBUILD)  # beside the environment's own: `man` and bash-completion find them by PATH
  set(HEADWAY_SHARE ${SKBUILD_DATA_DIR}/share)
else()
  set(HEADWAY_SHARE ${CMAKE_INSTALL_DATADIR})
endif()
if(EXISTS /etc/debian_version AND NOT SKBUILD)
  set(HEADWAY_ZSH zsh/vendor-completions)
else()
  set(HEADWAY_ZSH zsh/site-functions)
endif()
find_package(Python3 QUIET COMPONENTS Interpreter)

function(headway_help_pages program component)
  if(NOT Python3_EXECUTABLE OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(pages ${CMAKE_BINARY_DIR}/help-pages/${program})
  install(CODE "
    file(REMOVE_RECURSE \"${pages}\")
    execute_process(COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/cmake/help_pages.py\"
      \"${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${program}\" \"${pages}\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT ${component})
  install(DIRECTORY ${pages}/man ${pages}/bash-completion ${pages}/fish DESTINATION ${HEADWAY_SHARE} COMPONENT ${component})
  install(DIRECTORY ${pages}/zsh/site-functions/ DESTINATION ${HEADWAY_SHARE}/${HEADWAY_ZSH} COMPONENT ${component})
endfunction()
