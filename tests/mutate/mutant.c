/* SPDX-License-Identifier: Apache-2.0
 *
 * mutant.c - linked into every program under test: the fault that is on, and the file in which reached faults are
 * marked, a byte each. The file is mapped, so that it holds the marks of a process that crashes, too.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) int shoal_mutant_on;
__attribute__((visibility("hidden"))) unsigned char *shoal_mutant_map;

__attribute__((constructor)) static void start(void) {
    const char *on = getenv("SHOAL_MUTANT"), *map = getenv("SHOAL_MUTANT_MAP");
    if (on) shoal_mutant_on = atoi(on);
    const int file = map ? open(map, O_RDWR) : -1;
    if (file < 0) return;
    void *at = mmap(0, lseek(file, 0, SEEK_END), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) shoal_mutant_map = at;
    close(file);
}
