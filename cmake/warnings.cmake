# Warnings for our own code. Members that an initializer list leaves out are meant to have their defaults.
function(ptxopt_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wno-missing-field-initializers $<$<BOOL:${PTXOPT_WERROR}>:-Werror>)
endfunction()
