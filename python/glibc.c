/* SPDX-License-Identifier: Apache-2.0
 *
 * glibc.c - functions of the program whose symbols are newer than glibc 2.29, for a module that runs with that: stat and
 * fstat have been functions since 2.33 only, functions of pthread.h got a new version in 2.34, and fmod, strtoul,
 * strtoull and sscanf one in 2.38: the first without errno, the others read C23's 0b1 as well. And one of
 * libstdc++: what std::vector of gcc 11 and later calls for a size beyond all memory;
 * weak, because a static libstdc++ has it.
 */
#define _DEFAULT_SOURCE 1
#include <features.h>

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* the kernel's struct stat is glibc's on these processors */
int stat(const char *restrict path, struct stat *restrict info) {
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, info, 0);
}
int fstat(int file, struct stat *info) { return (int)syscall(SYS_fstat, file, info); }

#ifdef __x86_64__
#define FIRST "GLIBC_2.2.5"
#define C99   "GLIBC_2.7"
#else
#define FIRST "GLIBC_2.17"
#define C99   FIRST
#endif
__asm__(".symver first_create, pthread_create@" FIRST);
__asm__(".symver first_join, pthread_join@" FIRST);
__asm__(".symver first_trylock, pthread_mutex_trylock@" FIRST);
extern int first_trylock(pthread_mutex_t *);
extern int first_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern int first_join(pthread_t, void **);
int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*start)(void *), void *restrict argument) {
    return first_create(thread, attributes, start, argument);
}
int pthread_mutex_trylock(pthread_mutex_t *mutex) { return first_trylock(mutex); }
int pthread_join(pthread_t thread, void **result) { return first_join(thread, result); }

__asm__(".symver first_fmod, fmod@" FIRST);
__asm__(".symver first_strtoul, strtoul@" FIRST);
__asm__(".symver first_strtoull, strtoull@" FIRST);
__asm__(".symver first_vsscanf, __isoc99_vsscanf@" C99);
extern double first_fmod(double, double);
extern unsigned long first_strtoul(const char *, char **, int);
extern unsigned long long first_strtoull(const char *, char **, int);
extern int first_vsscanf(const char *, const char *, va_list);
extern double fmod(double, double);
extern unsigned long __isoc23_strtoul(const char *, char **, int);
extern unsigned long long __isoc23_strtoull(const char *, char **, int);
extern int __isoc23_sscanf(const char *, const char *, ...);
double fmod(double x, double y) { return first_fmod(x, y); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) {
    return first_strtoul(text, end, base);
}
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
    return first_strtoull(text, end, base);
}
int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int found = first_vsscanf(text, format, arguments);
    va_end(arguments);
    return found;
}

extern void _ZSt17__throw_bad_allocv(void);
__attribute__((weak)) void _ZSt28__throw_bad_array_new_lengthv(void);
void _ZSt28__throw_bad_array_new_lengthv(void) { _ZSt17__throw_bad_allocv(); }
#endif
