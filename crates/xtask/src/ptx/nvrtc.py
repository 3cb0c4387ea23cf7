"""Compiles CUDA C to PTX with NVRTC, without a GPU or a toolkit.

Reads a JSON list of {"name", "source", "options"} from stdin; writes a JSON list of {"name", "ptx"} or {"name", "error"}
to stdout. Headers are found by the options.
"""

import ctypes
import glob
import json
import os
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor


def library():
    folder = os.path.join(sysconfig.get_path("platlib"), "nvidia", "cuda_nvrtc")
    found = glob.glob(os.path.join(folder, "lib", "libnvrtc.so.*")) + glob.glob(os.path.join(folder, "bin", "nvrtc64_*_0.dll"))
    found = [path for path in found if "builtins" not in path]
    if not found:
        raise SystemExit(f"no NVRTC in {folder}")
    return ctypes.CDLL(found[0])


NVRTC = library()


def text(program, size, get):
    n = ctypes.c_size_t()
    size(program, ctypes.byref(n))
    buffer = ctypes.create_string_buffer(n.value)
    get(program, buffer)
    return buffer.value.decode()


def compile_one(job):
    with open(job["source"], "rb") as file:
        source = file.read()
    program = ctypes.c_void_p()
    name = os.path.basename(job["source"]).encode()
    if NVRTC.nvrtcCreateProgram(ctypes.byref(program), source, name, 0, None, None):
        return {"name": job["name"], "error": "nvrtcCreateProgram failed"}
    options = [option.encode() for option in job["options"]]
    failed = NVRTC.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    log = text(program, NVRTC.nvrtcGetProgramLogSize, NVRTC.nvrtcGetProgramLog)
    result = {"name": job["name"]}
    if failed:
        result["error"] = log
    else:
        result["ptx"] = text(program, NVRTC.nvrtcGetPTXSize, NVRTC.nvrtcGetPTX)
        if log.strip():
            print(f"{job['name']}: {log}", file=sys.stderr)
    NVRTC.nvrtcDestroyProgram(ctypes.byref(program))
    return result


def main():
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        json.dump(list(pool.map(compile_one, json.load(sys.stdin))), sys.stdout)


main()
