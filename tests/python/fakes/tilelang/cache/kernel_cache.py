class KernelCache:
    @staticmethod
    def _get_base_key():
        return {"version": "0.1.15"}

    def key(self):
        return str(KernelCache._get_base_key())
