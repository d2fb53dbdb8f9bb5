// The functions of the driver that ours stand for, and how others are kept from seeing them: for libraries to preload.
//
// A program comes to the driver in three ways: it is linked with it, and the dynamic linker finds our functions first; it asks
// dlsym(), which is ours too; or it asks cuGetProcAddress(), whose answers are exchanged. The CUDA runtime, shared or not,
// does the last two.
//
// Which functions, each library says in a table that it is compiled with (INTERPOSED_FUNCTIONS): a row INTERPOSED_FUNCTION(name)
// each, and a function of that name:
//     INTERPOSED cuMemFree_v2(uint64_t address) { ...; return call(REAL(cuMemFree_v2), address); }
// Rows INTERPOSED_ON_REQUEST(name), after all others, are for programs that run with a variable, INTERPOSED_REQUEST. Without it, who asks
// for such a function gets the driver's; a program that is linked with the driver comes to ours, which calls it.
#pragma once

#include <cstddef>

#ifndef INTERPOSED_FUNCTIONS
#error "compile with INTERPOSED_FUNCTIONS, the table of the library"
#endif

// For these names, seen by programs.
#define INTERPOSED extern "C" __attribute__((visibility("default"), used)) int
#define REAL(name) ptxopt::interpose::real(ptxopt::interpose::Id::name, name)

namespace ptxopt::interpose {

enum class Id : unsigned {
#define INTERPOSED_FUNCTION(name) name,
#include INTERPOSED_FUNCTIONS
};

// Whether the functions on request are to do more than the driver's. A library without INTERPOSED_REQUEST always does.
bool isRequested();
// In a child that began as a copy of a process that uses the driver: other threads of that may have been at work.
void endRequest();

constexpr int kNotSupported = 801;  // of a function that the driver does not have

// The driver's function; nullptr where it has none.
void* realFunction(Id id);
// Any other function of the driver, by its exact name.
void* driverFunction(const char* name);
// What is to be given to who asked the driver for `name` and got `found`: our function, or `found`. `isPerThread`: for the
// default stream of one a thread.
void* exchanged(const char* name, void* found, bool isPerThread);
// Ours of this exact name; nullptr for others.
void* ours(const char* name);

// real(Id::cuMemAlloc_v2, cuMemAlloc_v2)(...): typed as ours is.
template <typename F>
F* real(Id id, F*) {
  return reinterpret_cast<F*>(realFunction(id));
}

// Calls the driver's function where it has one.
template <typename F, typename... Arguments>
int call(F* function, Arguments... arguments) {
  return function != nullptr ? function(arguments...) : kNotSupported;
}

}  // namespace ptxopt::interpose
