"""A small ``nvidia-smi`` over NVML, for nodes whose accelerators are simulated: it prints what the real one would in these cases."""

import csv
import ctypes
import sys

LOST = 15


def query(library, handle, field):
    """One cell of ``--query-gpu``."""
    number, text, long = ctypes.c_uint(), ctypes.create_string_buffer(96), ctypes.c_ulonglong()
    texts = {"name": library.nvmlDeviceGetName, "gpu_name": library.nvmlDeviceGetName, "uuid": library.nvmlDeviceGetUUID}
    if field in texts:
        code = texts[field](handle, text, 96)
        return "[Unknown Error]" if code else text.value.decode()
    if field == "index":
        code = library.nvmlDeviceGetIndex(handle, ctypes.byref(number))
    elif field == "temperature.gpu":
        code = library.nvmlDeviceGetTemperature(handle, 0, ctypes.byref(number))
    elif field.startswith("ecc.errors."):
        words = field.split(".")
        kind, counter = int(words[2] == "uncorrected"), int(words[3] == "aggregate")
        code = library.nvmlDeviceGetTotalEccErrors(handle, kind, counter, ctypes.byref(long))
        number = long
    else:
        return "[N/A]"
    return "[Unknown Error]" if code else str(number.value)


def main(words):
    """``-L`` and ``--query-gpu=... --format=csv``."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        failed = library.nvmlInit_v2()
    except OSError:
        failed = 9
    if failed:
        print("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")
        return 9
    count = ctypes.c_uint()
    library.nvmlDeviceGetCount_v2(ctypes.byref(count))
    if not count.value:
        print("No devices were found")
        return 6
    fields = next(
        (word.split("=", 1)[1].split(",") for word in words if word.startswith("--query-gpu=")), ["index", "name", "uuid"]
    )
    out = csv.writer(sys.stdout, delimiter=",")
    for index in range(count.value):
        handle = ctypes.c_void_p()
        code = library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
        if code == LOST:
            print("Unable to determine the device handle for GPU%d: GPU is lost. Reboot the system to recover this GPU" % index)
            return 15
        cells = [query(library, handle, field.strip()) for field in fields]
        if "-L" in words:
            print("GPU %s: %s (UUID: %s)" % tuple(cells))
        else:
            out.writerow([cells[0], *(" " + cell for cell in cells[1:])])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
