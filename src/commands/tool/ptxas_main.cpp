// ptxopt-ptxas: the drop-in ptxas alone. It is called once for each file of a build, so that it is linked to start
// quickly (cmake/drop_in.cmake).
#include "tool/run_tool.h"

int main(int argc, char** argv) { return ptxopt::tool::runDropIn(argc, argv); }
