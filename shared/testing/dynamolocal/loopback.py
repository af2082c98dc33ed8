"""Starts ministack on a free port of the loopback interface. It ends when its standard input is closed,
so it never runs longer than the process that started it. Its log names the port.
"""

import os
import sys
import threading


def end_with_input():
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


threading.Thread(target=end_with_input, daemon=True).start()
sys.argv = ["ministack"]

from ministack.app import main  # noqa: E402

main()
