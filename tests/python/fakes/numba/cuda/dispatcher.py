class Cache:
    def _index_key(self, sig, codegen):
        return sig, codegen


class CUDACache(Cache):
    def _index_key(self, sig, codegen):
        return super()._index_key(sig, codegen)
