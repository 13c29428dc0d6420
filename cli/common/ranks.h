/* SPDX-License-Identifier: Apache-2.0
 *
 * ranks.h - the processes of one run under mpirun: messages between rank 0 and the others. Without MPI, in the build or
 * around the program, there is one rank.
 */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <stdbool.h>
#include <stddef.h>

/* Joins the other processes, if there are some. Before anything else. */
void ranks_begin(void);
/* How many processes; which one this is; which one it is on its machine, and how many there are on it. */
int ranks_count(void);
int ranks_own(void);
int ranks_local(void);
int ranks_on_machine(void);

/* Rank 0 sends to any rank, the others to rank 0. One thread at a time per rank. */
void ranks_send(int to, const void *bytes, size_t size);
/* Whether a message has come. */
bool ranks_heard(int from);
/* Waits for a message: from malloc; NULL without memory. */
void *ranks_receive(int from, size_t *size);
/* Rests between two looks for messages: longer if many threads look. */
void ranks_rest(void);

/* Leaves the other processes. After that there is one rank. */
void ranks_end(void);

#endif
