# SPDX-License-Identifier: Apache-2.0
#
# `make package`: a Debian package by CPack, and an archive of the same tree. The names of the packages it
# needs are those whose libraries it was linked with, as dpkg-shlibdeps (package dpkg-dev) finds them:
# libc6, libgomp1 with threads, libhdf5 where it is built in. OpenBLAS is not linked, so only suggested.
# It is one package, below lib/: of lintian's warnings those stay that ask for a second one with the library's soname, a
# third with headers and libshoal.so, and a directory of the architecture for shoal.pc.
set(CPACK_PACKAGE_NAME shoal)
set(CPACK_PACKAGE_VENDOR "Shoal")
set(CPACK_PACKAGE_CONTACT "The authors of Shoal <authors@shoal.invalid>") # Debian wants an address; there is none
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Tridiagonal and small symmetric systems, recurrences,
sorting, random numbers, prices of options and CVA in batches, on the CPU
or on a CUDA GPU: library, headers and the program shoal.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TXZ)
find_program(SHOAL_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(SHOAL_SHLIBDEPS)
if(SHOAL_SHLIBDEPS)
    list(PREPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT) # shoal_0.2.0_amd64.deb
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libopenblas0, bash-completion")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian.cmake) # both from CMake 3.19 on
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
include(CPack)
