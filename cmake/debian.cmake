# SPDX-License-Identifier: Apache-2.0
#
# What Debian asks of a package and CPack does not do. Before the staged tree is packed (CPACK_PRE_BUILD_SCRIPTS): manual
# pages and changelog compressed without names and times in them, the licence as a copyright file of Debian's form.
# Afterwards (CPACK_POST_BUILD_SCRIPTS): dpkg's trigger for ldconfig in the place of the scripts that call it, the size
# once installed, and xz -9: the program and both libraries hold the same GPU code, which it sees from 64 MiB away. The
# archive gets that, too.
if(NOT CPACK_GENERATOR STREQUAL DEB)
    find_program(xz xz)
    foreach(package ${CPACK_PACKAGE_FILES})
        if(xz)
            execute_process(COMMAND ${xz} -dc ${package} COMMAND ${xz} -9 OUTPUT_FILE ${package}.smaller
                            COMMAND_ERROR_IS_FATAL ANY)
            file(RENAME ${package}.smaller ${package})
        endif()
    endforeach()
    return()
endif()
if(CPACK_PACKAGE_FILES)
    find_program(dpkg_deb dpkg-deb REQUIRED)
    set(tree ${CPACK_TOPLEVEL_DIRECTORY}/again)
    foreach(package ${CPACK_PACKAGE_FILES})
        file(REMOVE_RECURSE ${tree})
        execute_process(COMMAND ${dpkg_deb} -R ${package} ${tree} RESULT_VARIABLE failed)
        file(REMOVE ${tree}/DEBIAN/postinst ${tree}/DEBIAN/postrm)
        file(WRITE ${tree}/DEBIAN/triggers "activate-noawait ldconfig\n")
        execute_process(COMMAND du -sk ${tree} OUTPUT_VARIABLE size) # CPack counts what links point to
        string(REGEX MATCH "^[0-9]+" size "${size}")
        file(READ ${tree}/DEBIAN/control control)
        string(REGEX REPLACE "Installed-Size: [0-9]+" "Installed-Size: ${size}" control "${control}")
        file(WRITE ${tree}/DEBIAN/control "${control}")
        if(NOT failed)
            execute_process(COMMAND ${dpkg_deb} --root-owner-group -Zxz -z9 -b ${tree} ${package}
                            OUTPUT_QUIET RESULT_VARIABLE failed)
        endif()
        if(failed)
            message(FATAL_ERROR "dpkg-deb ${package}: ${failed}")
        endif()
    endforeach()
    return()
endif()
find_program(gzip gzip REQUIRED)
set(root ${CPACK_TEMPORARY_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
set(doc ${root}/share/doc/${CPACK_PACKAGE_NAME})

# A package without a Debian revision is a native one: its changelog is in Debian's form, and names the other.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, where it is set
string(TIMESTAMP year "%Y" UTC)
file(WRITE ${doc}/changelog "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}; CHANGELOG.md.gz says what is in it.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Shoal

Files: *
Copyright: ${year} ${CPACK_PACKAGE_CONTACT}
License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")
file(REMOVE ${doc}/LICENSE)

file(GLOB pages ${root}/share/man/man1/*.1)
foreach(file ${doc}/changelog ${doc}/CHANGELOG.md ${pages})
    execute_process(COMMAND ${gzip} -9nf ${file} RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "gzip ${file}: ${failed}")
    endif()
endforeach()
