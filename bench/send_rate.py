"""How fast ``messages send`` is: messages of 1 KiB out of a journal into a broker that is running.

    python bench/send_rate.py DIR URL [QUEUE]

DIR: a data directory with messages; URL: a broker, as amqp://localhost:5672. Says messages a second, the start of the
program included.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time


def main() -> None:
    folder, url, *queues = sys.argv[1:]
    words = [sys.executable, "-m", "pagectl", "messages", "send", folder, "--to", url, "--format", "json"]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([*words, *(f"--queue={name}" for name in queues)], check=True, capture_output=True, text=True)
    seconds, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = json.loads(done.stdout)["queues"]
    sent, size = sum(each["sent"] for each in found), sum(each["bytes"] for each in found)
    print(f"{sent} messages, {size / 2**20:.1f} MiB in {seconds:.1f} s: {sent / seconds:.0f} messages a second")
    print(f"{worked:.1f} s of a processor: {sent / worked:.0f} messages a second where it has one to itself")


if __name__ == "__main__":
    main()
