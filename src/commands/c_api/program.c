/* A program of the wheel: all of it is in libptxopt.so, which lies in the folder above. It has no constructors, which
 * old_start.c relies on. */
#include "../../../include/ptxopt/ptxopt_c.h"

#ifndef PTXOPT_MAIN
#define PTXOPT_MAIN ptxopt_main
#endif

int main(int argc, char** argv) { return PTXOPT_MAIN(argc, argv); }
