# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where: headers, libshoal.so and libshoal.a, the files by which
# pkg-config and find_package know them; with the program, its manual pages, completion, examples,
# licence and documents.
# The installed tree can be moved: its files find each other from where they lie. One thing stays
# outside it: with CUDA, libshoal.a needs libcudart_static.a. The package files name the folder where the
# machine that built it has that, and it can be another where they are used: pkg-config's variable cudadir,
# and find_package looks for CUDA's toolkit.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Only the public functions are visible in the shared library, whatever is linked into it.
target_link_options(shoal PRIVATE -Wl,--version-script=${SHOAL_ROOT}/cmake/shoal.map)
set_target_properties(shoal PROPERTIES LINK_DEPENDS ${SHOAL_ROOT}/cmake/shoal.map)

# What a program that links libshoal.a has to link besides.
set(SHOAL_PRIVATE_LIBRARIES)
set(SHOAL_PRIVATE_FLAGS "")
set(SHOAL_CUDART "")
set(SHOAL_CUDA_DIR "")
if(SHOAL_HAVE_CUDA)
    set(SHOAL_CUDART ${CUDA_cudart_static_LIBRARY})
    get_filename_component(SHOAL_CUDA_DIR ${SHOAL_CUDART} DIRECTORY)
    set(SHOAL_PRIVATE_FLAGS "-L\${cudadir} -lcudart_static")
    list(APPEND SHOAL_PRIVATE_LIBRARIES stdc++ dl rt)
endif()
if(OpenMP_C_FOUND)
    list(APPEND SHOAL_PRIVATE_LIBRARIES ${OpenMP_C_LIB_NAMES})
endif()
list(APPEND SHOAL_PRIVATE_LIBRARIES pthread m)
list(REMOVE_DUPLICATES SHOAL_PRIVATE_LIBRARIES)

foreach(library ${SHOAL_PRIVATE_LIBRARIES})
    string(APPEND SHOAL_PRIVATE_FLAGS " -l${library}")
endforeach()
string(STRIP "${SHOAL_PRIVATE_FLAGS}" SHOAL_PRIVATE_FLAGS)

set(SHOAL_SHARED_FILE libshoal.so.${PROJECT_VERSION})
set(SHOAL_SONAME libshoal.so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH SHOAL_UP_FROM_PC /prefix/${pkgconfig_dir} /prefix)
string(REGEX REPLACE "/$" "" SHOAL_UP_FROM_PC ${SHOAL_UP_FROM_PC})
configure_file(cmake/shoal.pc.in shoal.pc @ONLY)
configure_package_config_file(cmake/shoalConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/shoalConfig.cmake
    INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/shoalConfigVersion.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion) # until 1.0 a minor version may break

install(DIRECTORY include/shoal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS shoal shoal_static
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/shoal.pc DESTINATION ${pkgconfig_dir})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/shoalConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/shoalConfigVersion.cmake DESTINATION ${package_dir})

if(TARGET shoal_cli)
    install(TARGETS shoal_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    set(completion ${PROJECT_BINARY_DIR}/completion)
    install(FILES ${completion}/shoal DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
    install(FILES ${completion}/_shoal DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
    install(FILES ${completion}/shoal.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
            FILES_MATCHING PATTERN "*.1")
    install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
    install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
    install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} # beside README.md, whose links name it so
            FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN site EXCLUDE)
    install(CODE "set(SHOAL_DOCS \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")")
    install(SCRIPT cmake/installed_docs.cmake)
endif()
