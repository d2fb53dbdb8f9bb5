# Warnings for our own code. Members that an initializer list leaves out are meant to have their defaults. GCC 12 sees an
# overlapping copy in every `"literal" + std::string()` that it inlines at -O3 (its bug 105651). Some pragmas are for GCC. Clang
# warns that std::stable_sort of libstdc++ calls a function that is deprecated.
function(ptxopt_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas -Wno-deprecated-declarations>
    $<$<BOOL:${PTXOPT_WERROR}>:-Werror>)
endfunction()
