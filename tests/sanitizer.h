/* SPDX-License-Identifier: Apache-2.0
 *
 * sanitizer.h - for tests that ask for more memory than there is: under a sanitizer, too, the
 * allocation is to fail and the program to go on.
 */
#ifndef SHOAL_TEST_SANITIZER_H
#define SHOAL_TEST_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

#ifdef SANITIZED
/* visible: the runtime looks them up by name */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }
#endif

#endif
