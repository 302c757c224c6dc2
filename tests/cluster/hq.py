"""The part of HyperQueue's command hq that templates/cluster/hq.sh uses, by the library of its wheel, which has no such command.

hq.py serve FOLDER CORES runs a server and a worker until it is ended; hq.py submit OPTION... -- COMMAND... runs an array on them.
"""

import argparse
import os
import signal
import sys

from hyperqueue import Client, Job, LocalCluster
from hyperqueue.cluster import WorkerConfig
from hyperqueue.ffi.protocol import ResourceRequest


def serve(folder, cores):
    with LocalCluster(folder, WorkerConfig(cores=int(cores))):
        print("ready", flush=True)
        signal.sigwait([signal.SIGTERM, signal.SIGINT])


def submit(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--wait", action="store_true", required=True)
    for name in ("--name", "--array", "--time-limit", "--stdout", "--stderr"):
        parser.add_argument(name, required=True)
    parser.add_argument("--cpus", type=int, required=True)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(arguments)
    first, last = map(int, options.array.split("-"))
    assert first == 1 and options.time_limit.endswith("h"), "not what the template says"
    job = Job(os.getcwd(), max_fails=None, name=options.name, default_env=dict(os.environ))
    job.program(["true"], stdout=None, stderr=None)  # Tasks are numbered from 0 here.
    for _ in range(last):
        resources = ResourceRequest(cpus=options.cpus)
        job.program(options.command, stdout=options.stdout, stderr=options.stderr, resources=resources)
    client = Client(os.environ["HQ_SERVER_DIR"])
    return 0 if client.wait_for_jobs([client.submit(job)], raise_on_error=False) else 1


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    sys.exit({"serve": lambda: serve(*arguments), "submit": lambda: submit(arguments)}[command]())
