"""A box that updates itself with the package rauc-hawkbit, like the package's script, and prints which version it runs.

Arguments: the server's URL, the tenant, the box, its token, the version that it runs, the folder to install into.
"""

import asyncio
import logging
import os
import subprocess
import sys

import aiohttp
import gbulb
from gi.repository import Gio
from rauc_hawkbit.rauc_dbus_ddi_client import RaucDBUSDDIClient


def start_installer():
    """Starts a bus, which ends with this process, and the installer on it."""
    bus = Gio.TestDBus.new(Gio.TestDBusFlags.NONE)
    bus.up()
    os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = bus.get_bus_address()
    program = os.path.join(os.path.dirname(__file__), "installer.py")
    installer = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE)
    installer.stdout.readline()
    return bus


async def main():
    url, tenant, box, token, runs, folder = sys.argv[1:]
    logging.basicConfig(level=logging.INFO, stream=sys.stdout)
    host = url.removeprefix("http://")
    bundle = os.path.join(folder, "bundle")
    async with aiohttp.ClientSession() as session:
        client = RaucDBUSDDIClient(session, host, False, tenant, box, token, {"installed": runs}, bundle,
                                   lambda result: print("written:", result, flush=True))
        await client.start_polling(wait_on_error=1)


if __name__ == "__main__":
    BUS = start_installer()
    gbulb.install()
    asyncio.get_event_loop().run_until_complete(main())
