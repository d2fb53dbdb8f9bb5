/* What glibc 2.27 lacks of what is linked, in terms of what it has, for x86-64 (cmake/wheel.cmake).
 *
 * These symbols are newer by name or by version only: 2.32 to 2.34 moved pthread, dl and stat into libc.so under new
 * versions, and the old ones are still there. A definition here is what the linker takes first, so that the library asks
 * for the old version. tests/python/wheel.py checks what it asks for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#define OLD(result, name, version, parameters, arguments)     \
  extern result old_##name parameters;                        \
  __asm__(".symver old_" #name ", " #name "@GLIBC_" version); \
  result name parameters { return old_##name arguments; }

OLD(int, pthread_create, "2.2.5", (pthread_t * t, const pthread_attr_t* a, void* (*run)(void*), void* with),
    (t, a, run, with))
OLD(int, pthread_detach, "2.2.5", (pthread_t t), (t))
OLD(int, pthread_join, "2.2.5", (pthread_t t, void** result), (t, result))
OLD(int, pthread_once, "2.2.5", (pthread_once_t * once, void (*run)(void)), (once, run))
OLD(int, pthread_key_create, "2.2.5", (pthread_key_t * key, void (*end)(void*)), (key, end))
OLD(int, __pthread_key_create, "2.2.5", (pthread_key_t * key, void (*end)(void*)), (key, end))
OLD(int, pthread_key_delete, "2.2.5", (pthread_key_t key), (key))
OLD(void*, pthread_getspecific, "2.2.5", (pthread_key_t key), (key))
OLD(int, pthread_setspecific, "2.2.5", (pthread_key_t key, const void* value), (key, value))
OLD(int, pthread_mutex_trylock, "2.2.5", (pthread_mutex_t * lock), (lock))
OLD(int, pthread_rwlock_rdlock, "2.2.5", (pthread_rwlock_t * lock), (lock))
OLD(int, pthread_rwlock_wrlock, "2.2.5", (pthread_rwlock_t * lock), (lock))
OLD(int, pthread_rwlock_unlock, "2.2.5", (pthread_rwlock_t * lock), (lock))
OLD(int, pthread_sigmask, "2.2.5", (int how, const sigset_t* set, sigset_t* before), (how, set, before))

/* The driver is found at run time. dlsym is asked with a handle: it does not matter who asks. A library to preload has its own of both. */
#ifndef PTXOPT_HAS_DLSYM
OLD(void*, dlopen, "2.2.5", (const char* file, int mode), (file, mode))
OLD(void*, dlsym, "2.2.5", (void* handle, const char* name), (handle, name))
OLD(char*, dlerror, "2.2.5", (void), ())
OLD(int, dlclose, "2.2.5", (void* handle), (handle))
#else
OLD(void*, dlvsym, "2.2.5", (void* handle, const char* name, const char* version), (handle, name, version))
OLD(int, dladdr, "2.2.5", (const void* address, Dl_info* to), (address, to))
#endif

#ifdef PTXOPT_HAS_DLSYM
/* Its C++ runtime asks whether there are threads. */
char __libc_single_threaded = 0;
#else
/* The newer ones leave out what SVID asks for where the argument is out of range. */
OLD(double, exp, "2.2.5", (double x), (x))
OLD(double, log, "2.2.5", (double x), (x))
OLD(double, pow, "2.2.5", (double x, double y), (x, y))
#endif

/* stat and its kind called these, with a version of the structure. */
enum { kStatVersion = 1 };
extern int oldStat(int version, const char* path, struct stat* to);
extern int oldLstat(int version, const char* path, struct stat* to);
extern int oldFstat(int version, int file, struct stat* to);
__asm__(".symver oldStat, __xstat@GLIBC_2.2.5");
__asm__(".symver oldLstat, __lxstat@GLIBC_2.2.5");
__asm__(".symver oldFstat, __fxstat@GLIBC_2.2.5");
int stat(const char* path, struct stat* to) { return oldStat(kStatVersion, path, to); }
int lstat(const char* path, struct stat* to) { return oldLstat(kStatVersion, path, to); }
int fstat(int file, struct stat* to) { return oldFstat(kStatVersion, file, to); }
int fstat64(int file, struct stat64* to) { return oldFstat(kStatVersion, file, (struct stat*)to); }
int stat64(const char* path, struct stat64* to) { return oldStat(kStatVersion, path, (struct stat*)to); }
int lstat64(const char* path, struct stat64* to) { return oldLstat(kStatVersion, path, (struct stat*)to); }
extern int oldFstatat(int version, int folder, const char* path, struct stat* to, int flags);
__asm__(".symver oldFstatat, __fxstatat@GLIBC_2.4");
int fstatat(int folder, const char* path, struct stat* to, int flags) {
  return oldFstatat(kStatVersion, folder, path, to, flags);
}

/* Since 2.30: a wait until a time of another clock than the one of the condition, which is CLOCK_REALTIME. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* lock, clockid_t clock, const struct timespec* until) {
  enum { kSecond = 1000000000 };
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  const long nanoseconds = until->tv_nsec - now.tv_nsec + real.tv_nsec;  // from -1 to 2 seconds
  const long carry = nanoseconds < 0 ? -1 : nanoseconds / kSecond;
  real.tv_sec += until->tv_sec - now.tv_sec + carry;
  real.tv_nsec = nanoseconds - carry * kSecond;
  return pthread_cond_timedwait(condition, lock, &real);
}

uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
  }
  return value;
}
