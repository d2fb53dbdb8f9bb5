// A program that has nothing to do with the driver, and finds none of its functions.
#include <dlfcn.h>

int main() { return dlsym(RTLD_DEFAULT, "cuModuleLoadData") != nullptr ? 1 : 0; }
