/* SPDX-License-Identifier: Apache-2.0
 *
 * status.c - texts of the status codes, made from the lists in core.h; the version.
 */
#include <shoal/core.h>

#define CASE(name, value, text)                                                                    \
    case name: return text;

const char *shoal_status_text(shoal_status status) {
    switch (status) { SHOAL_STATUS_LIST(CASE) }
    return "unknown status";
}

const char *shoal_system_text(int32_t system_status) {
    switch ((shoal_system_status)system_status) { SHOAL_SYSTEM_LIST(CASE) }
    return "unknown status";
}

#define TEXT_(n) #n
#define TEXT(n)  TEXT_(n)

const char *shoal_version(void) {
    return TEXT(SHOAL_VERSION_MAJOR) "." TEXT(SHOAL_VERSION_MINOR) "." TEXT(SHOAL_VERSION_PATCH);
}
