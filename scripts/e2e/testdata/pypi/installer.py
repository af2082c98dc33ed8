"""An installer with the D-Bus interface of RAUC, which reports each bundle as installed. It ends with the bus."""

from gi.repository import Gio, GLib

NAME = "de.pengutronix.rauc.Installer"
INTERFACE = f"""
<node>
  <interface name="{NAME}">
    <method name="Install"><arg name="source" type="s" direction="in"/></method>
    <property name="Operation" type="s" access="read"/>
    <property name="LastError" type="s" access="read"/>
    <property name="Progress" type="(isi)" access="read"/>
    <signal name="Completed"><arg name="result" type="i"/></signal>
  </interface>
</node>
"""
STATE = {
    "Operation": GLib.Variant("s", "idle"),
    "LastError": GLib.Variant("s", ""),
    "Progress": GLib.Variant("(isi)", (0, "", 1)),
}


def changed(connection, name, value):
    STATE[name] = value
    signal = GLib.Variant("(sa{sv}as)", (NAME, {name: value}, []))
    connection.emit_signal(None, "/", "org.freedesktop.DBus.Properties", "PropertiesChanged", signal)


def install(connection):
    changed(connection, "Operation", GLib.Variant("s", "installing"))
    for percent, words in (0, "Installing"), (50, "Copying image to rootfs.1"), (100, "Installing done."):
        changed(connection, "Progress", GLib.Variant("(isi)", (percent, words, 1)))
    connection.emit_signal(None, "/", NAME, "Completed", GLib.Variant("(i)", (0,)))
    changed(connection, "Operation", GLib.Variant("s", "idle"))
    return GLib.SOURCE_REMOVE


def called(connection, _sender, _path, _interface, _method, _parameters, invocation):
    invocation.return_value(None)
    GLib.timeout_add(200, install, connection)


def main():
    loop = GLib.MainLoop()
    bus = Gio.bus_get_sync(Gio.BusType.SYSTEM, None)
    interface = Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0]
    bus.register_object("/", interface, called, lambda *asked: STATE[asked[4]], None)
    Gio.bus_own_name_on_connection(bus, "de.pengutronix.rauc", Gio.BusNameOwnerFlags.NONE,
                                   lambda *_: print("ready", flush=True), lambda *_: loop.quit())
    loop.run()


if __name__ == "__main__":
    main()
