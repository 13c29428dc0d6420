/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.h - calls without Python arguments: a plan and the addresses of its arrays.
 */
#pragma once

#include "plans.h"

#include <string_view>

/* Functions whose arguments are a plan, arrays that are read, and arrays that are written, the last of them for the
 * outcomes if there are any. */
struct BufferCall {
    const char *name;
    void (*destroy)(void *);
    shoal_status (*run)(Plan &plan, void *const *buffers, size_t count, unsigned fields);
    shoal_status (*failed)(Plan &plan, int64_t *systems); /* waits; NULL: not known */
};

const BufferCall *find_call(std::string_view name);

/* The outcome of each system goes into one block of 32-bit numbers: for each bit of `fields` a row of `count`. The
 * order of the bits is that of shoal_outcome. */
shoal_outcome outcome_of(void *block, int64_t count, unsigned fields);
