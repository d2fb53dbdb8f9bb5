def compile_cuda(code, target_format="ptx"):
    return code
