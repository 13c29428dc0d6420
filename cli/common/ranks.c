/* SPDX-License-Identifier: Apache-2.0
 *
 * ranks.c - one process alone: a program without MPI, and the Python module. ranks_mpi.c has the same functions.
 */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>

/* Several processes that know nothing of each other would all do the same, and write the same files. */
void ranks_begin(void) {
    const char *size = getenv("OMPI_COMM_WORLD_SIZE"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!size || atoi(size) < 2) return;
    if (rank && atoi(rank) == 0)
        fputs("shoal: this build has no MPI: mpirun cannot share the work (`shoal info')\n",
              stderr);
    exit(69);
}
void ranks_send(int to, const void *bytes, size_t size) { (void)to, (void)bytes, (void)size; }
bool ranks_heard(int from) { return from < 0; }
void *ranks_receive(int from, size_t *size) {
    *size = 0;
    return from < 0 ? NULL : calloc(1, 1);
}
void ranks_rest(void) {}
void ranks_end(void) {}
int ranks_count(void) { return 1; }
int ranks_own(void) { return 0; }
int ranks_local(void) { return 0; }
int ranks_on_machine(void) { return 1; }
