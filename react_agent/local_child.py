"""The process in which llama.cpp runs: started by local_serve.py as a script, it imports nothing of this package.

Argument 1: the settings as JSON. Standard output: one line of JSON, {"url": ...} or {"error": ...}. It ends when standard
input does, so it never outlives its parent. Everything that llama.cpp prints goes to standard error, which the parent keeps.
"""

import json
import os
import signal
import sys
from typing import Any

# No web page may read from the server, nor see what was asked; and prompts seen before take at most this much memory.
RESTRAINTS = {"cors_origins": "", "ui": False, "endpoint_slots": False, "cache_ram_mib": 1024}


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it closes standard input
    reply = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what C code prints must not be taken for the reply
    settings = json.loads(sys.argv[1])
    try:
        server = start(settings)
        outcome = {"url": server.listening_address}
    except Exception as error:  # whatever it was, the parent puts it into words
        outcome = {"error": f"{type(error).__name__}: {error}"}
    reply.write(json.dumps(outcome) + "\n")
    reply.close()
    if "url" in outcome:
        sys.stdin.buffer.read()
        os._exit(0)  # without llama.cpp's teardown, which would wait for a generation to end


def start(settings: dict[str, Any]) -> Any:
    """Load the model and listen; returns when both are done."""
    import xllamacpp  # an optional extra

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = settings["path"], {settings["name"]}
    params.n_ctx, params.n_parallel, params.port = settings["context_window"] * settings["parallel"], settings["parallel"], 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.use_jinja, params.verbosity = True, 1  # 1: errors only
    for name, value in RESTRAINTS.items():
        if hasattr(params, name):  # which of these there are depends on the version
            setattr(params, name, value)
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
