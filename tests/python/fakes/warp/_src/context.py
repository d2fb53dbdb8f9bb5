class ModuleHasher:
    def __init__(self, kernels, options):
        self.hash = str(sorted(options.items()))


class Module:
    def _get_compile_output_name(self, device, output_arch=None, arch_suffix="", use_ptx=None, block_dim=None):
        """As compile_aot_module calls it for an architecture, where `device` is None."""
        return f"k.sm{output_arch}.{'ptx' if use_ptx else 'cubin'}"
