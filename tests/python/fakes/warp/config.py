version = "1.19.0"
cuda_output = None
