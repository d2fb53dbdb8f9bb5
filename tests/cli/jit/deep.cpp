// A library that is loaded with RTLD_DEEPBIND, and finds the driver itself.
#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) void* lookUp(const char* name);

void* lookUp(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return dlsym(driver, name);
}
