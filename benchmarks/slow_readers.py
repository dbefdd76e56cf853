"""A thousand subscribers of which a hundred never read: the server's memory, beside that where all of them read.

Those that don't read must be left behind (`Lagged`, then closed), and cost no more than their sockets hold.
Run as `python benchmarks/slow_readers.py [BURSTS]`.
"""

import json
import multiprocessing
import socket
import sys
import tempfile

from fan_out import BURST, Ours
from rows import Row, tell
from subscribed import INIT, SUBSCRIBE, frame_of, handshake

READERS, SILENT = 900, 100
MORE_MB = SILENT * 0.128
"""A transport takes up to 64 KB before its writer has to wait, and its buffers grow by doubling."""
LAGGED = b'"__typename":"Lagged"'


def silent(port: int) -> socket.socket:
    """A subscriber that never reads what it is told."""
    one = socket.create_connection(("127.0.0.1", port))
    one.sendall(handshake(port))
    one.recv(4096)
    one.sendall(frame_of(INIT))
    one.recv(4096)
    one.sendall(frame_of(SUBSCRIBE))
    return one


def is_left_behind(one: socket.socket) -> bool:
    """Whether the server has told it that it lagged and ended its subscription, or has cut it off."""
    one.settimeout(10)
    told = b""
    try:
        while LAGGED not in told:
            if not (more := one.recv(1 << 20)):
                return True
            told = told[-len(LAGGED) :] + more
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


def grown(silent_ones: int, bursts: int) -> tuple[list[int], int]:
    """The server's memory in MB after each burst, with so many that never read; how many of these were left behind."""
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(READERS, folder)
        sockets = [silent(ours.port) for _ in range(silent_ones)]
        memory = []
        for _ in range(bursts + 1):
            ours.publish(ours.write(BURST), BURST)
            memory.append(round(ours.memory_mb()))
        left_behind = sum(map(is_left_behind, sockets))
        ours.close()
    return memory, left_behind


def main(bursts: int = 20) -> None:
    """Publish so many bursts with and without them: what the runs themselves take in memory counts in both."""
    (without, _), (memory, left_behind) = grown(0, bursts), grown(SILENT, bursts)
    told = {"runs": BURST * bursts, "memoryMb": memory, "withoutThemMb": without, "leftBehind": left_behind}
    print(json.dumps(told), flush=True)
    more = (max(memory) - memory[0]) - (max(without) - without[0])
    tell(
        Row("slow readers", "growth of memory for 100 that never read, MB", more, MORE_MB, "at most"),
        Row("slow readers", "of 100 that never read, left behind", left_behind, SILENT),
    )


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    main(*map(int, sys.argv[1:2]))
