// Libraries that look among their own before they look at ours.
//
// What a program loads with RTLD_DEEPBIND (Taichi does) finds the C library's dlsym() first, and by that the driver's functions. Once
// a program has done that, the entry for dlsym() in the table of each library that was loaded since is made to lead to ours, if it
// leads to the C library's or was not looked up yet. A program that never does has none of this.
#pragma once

namespace ptxopt::interpose {

// The program loads a library with these flags of dlopen().
void noteFlags(int flags);
// Looks at what was loaded since it was called last.
void redirectDlsym(void* ours, void* theirs);

}  // namespace ptxopt::interpose
