class BaseDSL:
    def get_module_hash(self, module, function_name):
        return function_name
