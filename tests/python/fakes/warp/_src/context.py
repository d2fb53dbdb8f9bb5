class ModuleHasher:
    def __init__(self, kernels, options):
        self.hash = str(sorted(options.items()))
