// The program ptxopt.
#include "tool/run_tool.h"

int main(int argc, char** argv) { return ptxopt::tool::runTool(argc, argv); }
