"""The servers that run on this machine, at the ports that they usually have."""

import socket
from concurrent.futures import ThreadPoolExecutor

from react_agent.endpoints.open_probe import Found, recognise

# llama.cpp and LocalAI, Ollama, vLLM, LM Studio, KoboldCpp, text-generation-webui, TGI, SGLang.
PORTS = (8080, 11434, 8000, 1234, 5001, 5000, 3000, 30000)
CONNECT_S = 0.5


def find_local() -> list[Found]:
    """The model servers on 127.0.0.1, asked side by side: takes a few seconds at most, and most often none."""
    ports = tuple(PORTS)
    if not ports:
        return []
    with ThreadPoolExecutor(len(ports), "endpoint-local") as pool:
        found = list(pool.map(_at, ports))
    return [server for server in found if server is not None]


def _at(port: int) -> Found | None:
    try:
        socket.create_connection(("127.0.0.1", port), CONNECT_S).close()
    except OSError:
        return None
    return recognise(f"http://127.0.0.1:{port}")
