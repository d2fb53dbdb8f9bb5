import fake_settings


def build_cuda(cu_path, arch, output_path, *, config="release"):
    with open(output_path, "w", encoding="utf-8") as file:
        file.write(fake_settings.ptx)
