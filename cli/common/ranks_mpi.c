/* SPDX-License-Identifier: Apache-2.0
 *
 * ranks_mpi.c - messages between the processes of one run under mpirun, by MPI: the size, then the bytes in pieces of less
 * than 2^31. No process waits inside MPI, which would keep a core busy. Threads call MPI one at a time.
 */
#include "ranks.h"

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TAG = 1, PIECE = 1 << 30, REST = 1000000 /* nanoseconds */, LOOKS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count = 1, own, local, on_machine = 1;

/* Whether a launcher has started this process as one of several: Open MPI, Slurm with PMIx, MPICH. */
static bool is_launched(void) {
    static const char *const names[] = { "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) return true;
    return false;
}

void ranks_begin(void) {
    int given;
    MPI_Comm here;
    if (!is_launched() || MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given)) return;
    if (given < MPI_THREAD_SERIALIZED) {
        fputs("shoal: this MPI library has no threads\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 69);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, own, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &local);
    MPI_Comm_size(here, &on_machine);
    MPI_Comm_free(&here);
}

void ranks_send(int to, const void *bytes, size_t size) {
    const char *at = bytes;
    uint64_t length = size;
    pthread_mutex_lock(&lock);
    MPI_Send(&length, sizeof length, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
    for (size_t left = size; left > 0;) {
        const int here = left < PIECE ? (int)left : PIECE;
        MPI_Send(at, here, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
        at += here, left -= (size_t)here;
    }
    pthread_mutex_unlock(&lock);
}

bool ranks_heard(int from) {
    int heard;
    pthread_mutex_lock(&lock);
    MPI_Iprobe(from, TAG, MPI_COMM_WORLD, &heard, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&lock);
    return heard;
}

void *ranks_receive(int from, size_t *size) {
    uint64_t length;
    while (!ranks_heard(from)) ranks_rest();
    pthread_mutex_lock(&lock);
    MPI_Recv(&length, sizeof length, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char *bytes = malloc(length + 1), *at = bytes;
    for (uint64_t left = length; left > 0 && bytes;) {
        const int here = left < PIECE ? (int)left : PIECE;
        MPI_Recv(at, here, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        at += here, left -= (uint64_t)here;
    }
    pthread_mutex_unlock(&lock);
    if (!bytes) MPI_Abort(MPI_COMM_WORLD, 69); /* the pieces would be taken for other messages */
    bytes[length] = 0, *size = length;
    return bytes;
}

void ranks_rest(void) {
    const long looks = own == 0 ? 1 + count / LOOKS : 1;
    nanosleep(&(struct timespec){ .tv_nsec = looks < 100 ? looks * REST : 100 * REST }, NULL);
}

void ranks_end(void) {
    int begun, ended;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (begun && !ended) MPI_Finalize();
    count = 1;
}

int ranks_count(void) { return count; }
int ranks_own(void) { return own; }
int ranks_local(void) { return local; }
int ranks_on_machine(void) { return on_machine; }
