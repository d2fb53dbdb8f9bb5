#include "reduce/reductions.h"

namespace ptxopt::reduce {
namespace {

constexpr Reduction kReductions[] = {
    {"functions", dropFunctions},
    {"bodies", dropBodies},
    {"prototypes", dropPrototypes},
    {"directives", dropDirectives},
    {"line info", dropLineInfo},
    {"module variables", dropModuleVariables},
    {"blocks", emptyBlocks},
    {"branches", dropBranches},
    {"branches always taken", takeBranchesAlways},
    {"indirect branches", directIndirectBranches},
    {"statements", dropStatements},
    {"jumps to jumps", threadJumps},
    {"labels", dropUnusedLabels},
    {"declarations", dropUnusedDeclarations},
    {"scopes", dropScopes},
    {"guards", dropGuards},
    {"instructions bypassed", bypass},
    {"instructions to mov 0", replaceByMoveOfZero},
    {"instructions to mov", replaceByMoveOfSource},
    {"operands to 0", operandsToZero},
    {"operands to 1", operandsToOne},
    {"operands to the first", operandsToFirst},
    {"address offsets", dropOffsets},
    {"immediates to 0", immediatesToZero},
    {"immediates to 1", immediatesToOne},
    {"immediates halved", halveImmediates},
    {"vectors", shortenVectors},
    {"modifiers", dropModifiers},
    {"function directives", dropFunctionDirectives},
    {"initializers", dropInitializers},
    {"dimensions to 1", shrinkDimensionsToOne},
    {"dimensions halved", halveDimensions},
    {"registers merged", mergeRegisters},
    {"parameters", dropParameters, true},
    {"registers renumbered", renumberRegisters},
    {"names", shortenNames},
    {"kernel names", shortenKernelNames, true},
};

}  // namespace

std::span<const Reduction> reductions() { return kReductions; }

}  // namespace ptxopt::reduce
