class BinaryCache:
    @classmethod
    def _finalize_key(cls, key_data):
        return f"{cls.__name__} {sorted(key_data.items())}"


class CUDABinaryCache(BinaryCache):
    pass
