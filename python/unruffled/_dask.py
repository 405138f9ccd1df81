"""``python -m unruffled sweep --dask``, which the command starts."""

from __future__ import annotations

import argparse
import os
import sys

import unruffled


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m unruffled")
    commands = parser.add_subparsers(dest="command", required=True)
    sweep = commands.add_parser("sweep", help="compare senders at many points")
    sweep.add_argument("grid", help="a grid file")
    sweep.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler whose workers run it")
    sweep.add_argument("--set", metavar="KEY=VALUE", action="append", default=[])
    sweep.add_argument("--json", action="store_true")
    sweep.add_argument("--csv", action="store_true")
    sweep.add_argument("--store", metavar="FILE")
    sweep.add_argument("--no-store", action="store_true")
    given = parser.parse_args()
    if sys.stdout is None:
        reason = "closed: expected a terminal, a file or a pipe"
        print(f"unruffled: standard output: {reason}", file=sys.stderr)
        return 2
    try:
        found = _sweep(given)
    except (unruffled.Error, OSError) as error:
        print(f"unruffled: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    text = found.to_json() if given.json else found.to_csv() if given.csv else str(found)
    try:
        # UTF-8 in every locale, as the command expects.
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()
    except OSError as error:
        # Python would otherwise try to write the rest when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A reader that has closed the pipe is no error.
        if not isinstance(error, BrokenPipeError):
            reason = f"{error.strerror} (os error {error.errno})"
            print(f"unruffled: standard output: {reason}", file=sys.stderr)
            return 2
    return 0


def _sweep(given: argparse.Namespace) -> unruffled.Sweep:
    overrides = {}
    for setting in given.set:
        key, equals, value = setting.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise unruffled.Error(f"--set {setting}: expected KEY=VALUE")
        if key.strip() in overrides:
            raise unruffled.Error(f"--set: {key.strip()}: stands twice: expected each key once")
        overrides[key.strip()] = value.strip()
    client = None
    if given.dask is not None:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port

        try:
            # Checked first, since a client with an invalid address never ends.
            get_address_host_port(given.dask)
            client = Client(given.dask, set_as_default=False)
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else "no answer"
            raise unruffled.Error(f"--dask: {given.dask}: {reason}") from None
    store = False if given.no_store else given.store or True
    try:
        return unruffled.sweep(grid=given.grid, set=overrides, store=store, client=client)
    finally:
        if client is not None:
            client.close()
