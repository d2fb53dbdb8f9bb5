import subprocess

import fake_settings


def get_nvcc_compiler():
    return fake_settings.nvcc


def compile_cuda(code, target_format="cubin"):
    return subprocess.run([get_nvcc_compiler(), f"--{target_format}", code], capture_output=True, text=True, check=True).stdout
