/* SPDX-License-Identifier: Apache-2.0
 *
 * faults.h - launches that fail, and errors of before, for tests in C and C++ over the emulator.
 */
#ifndef SHOAL_SIMT_FAULTS_H
#define SHOAL_SIMT_FAULTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* From now on the launch of that number, from 1 on, fails with cudaErrorLaunchOutOfResources; 0: none does. Returns how
 * many launches there were since the last call. */
long simt_refuse_launch(long number);

/* The next cudaGetLastError() of this thread returns an error, as after a failed call of the caller's own. */
void simt_leave_error(void);

#ifdef __cplusplus
}
#endif

#endif
