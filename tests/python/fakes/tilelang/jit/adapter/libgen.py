from tilelang.contrib.nvcc import get_nvcc_compiler


def compiler():
    return get_nvcc_compiler()
