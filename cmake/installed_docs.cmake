# SPDX-License-Identifier: Apache-2.0
#
# At the end of `cmake --install`: links of the installed documents to what is not installed beside them, sources
# and results, become plain text. SHOAL_DOCS is the folder of README.md.
set(not_there "src/|bench/|include/|tests/|abi/|cli/|cmake/|CONTRIBUTING\\.md|CHANGELOG\\.md|LICENSE|[a-z_]+\\.sh")
file(GLOB pages "$ENV{DESTDIR}${SHOAL_DOCS}/README.md" "$ENV{DESTDIR}${SHOAL_DOCS}/docs/*.md")
foreach(page ${pages})
    file(READ "${page}" text)
    string(REGEX REPLACE "\\[([^][]*)\\]\\((\\.\\./)?(${not_there})[^)]*\\)" "\\1" text "${text}")
    file(WRITE "${page}" "${text}")
endforeach()
