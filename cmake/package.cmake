# SPDX-License-Identifier: Apache-2.0
#
# `make package`: a Debian package by CPack, and an archive of the same tree. The names of the packages it
# needs are those whose libraries it was linked with, as dpkg-shlibdeps (package dpkg-dev) finds them:
# libc6, libgomp1 with threads, libhdf5 where it is built in. OpenBLAS is not linked, so only suggested.
set(CPACK_PACKAGE_NAME shoal)
set(CPACK_PACKAGE_VENDOR "Shoal")
set(CPACK_PACKAGE_CONTACT "the authors of Shoal")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Tridiagonal and small symmetric systems, recurrences, sorting, random numbers and
 prices of options in batches, on the CPU or on a CUDA GPU: library, headers and the program shoal.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
find_program(SHOAL_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(SHOAL_SHLIBDEPS)
if(SHOAL_SHLIBDEPS)
    list(PREPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT) # shoal_0.1.0_amd64.deb
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # and the trigger that makes ldconfig run
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libopenblas0, bash-completion")
include(CPack)
