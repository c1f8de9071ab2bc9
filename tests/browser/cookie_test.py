"""What another server on the same name can do with what the browser sends it: nothing.

    python3 tests/browser/cookie_test.py --programs build/release/bin
"""

import http.client
import http.server
import os
import signal
import socket
import sys
import threading
import unittest

from daemon import Daemon
from support import PageTest, main

NOBODY = 65534


class Thief(http.server.BaseHTTPRequestHandler):
    """Another user's server. Each cookie that a browser brings it tries at the daemon's port, to stop a
    program and to read, and says how that was answered."""

    daemon_port = 0

    def do_GET(self):
        cookie = self.headers.get("Cookie", "")
        said = [f"cookie={'trainward_session=' in cookie}"]
        for method, path in (("POST", "/v1/programs/run/stop"), ("GET", "/v1/programs"), ("POST", "/logout")):
            connection = http.client.HTTPConnection("127.0.0.1", self.daemon_port, timeout=30)
            connection.request(method, path, headers={"Cookie": cookie, "X-Trainward": "1"})
            said.append(f"{path}={connection.getresponse().status}")
            connection.close()
        body = f"<!doctype html><title>thief</title><main>{' '.join(said)}</main>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve_as_nobody(daemon_port):
    """The port and the process of it."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Thief)
    Thief.daemon_port = daemon_port
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        try:
            server.serve_forever()
        finally:
            os._exit(1)
    server.server_close()
    return server.server_address[1], pid


def forward(port):
    """As `ssh -L` does it: a port whose connections go on from a process of the operator's."""
    listening = socket.create_server(("127.0.0.1", 0))

    def pump(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        finally:
            for end in (source, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            source.close()

    def accept():
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            inner = socket.create_connection(("127.0.0.1", port))
            for pair in ((client, inner), (inner, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listening


@unittest.skipUnless(os.geteuid() == 0, "needs root, to be two users")
class Cookie(PageTest):
    programs = "build/release/bin"

    def setUp(self):
        super().setUp()
        self.daemon = Daemon(self.programs)
        self.addCleanup(self.daemon.close)
        self.daemon.until(lambda: self.daemon.row()["last_step"] > 2, "the program makes steps")
        self.thief_port, pid = serve_as_nobody(self.daemon.port)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)

    def steal(self, page_port, thief_port):
        """Logs in at one port, goes to the other, and comes back."""
        page = f"http://127.0.0.1:{page_port}/"
        self.browser.open(self.daemon.link().replace(f":{self.daemon.port}/", f":{page_port}/"))
        self.browser.wait("document.querySelector('#connection')?.classList.contains('live')", "logged in")
        self.browser.open(f"http://127.0.0.1:{thief_port}/")
        self.assertEqual(self.browser.text("main"),
                         "cookie=True /v1/programs/run/stop=401 /v1/programs=401 /logout=303")
        self.assertEqual(self.daemon.row()["state"], "RUNNING")
        self.browser.open(page)
        self.browser.wait("document.querySelector('#connection')?.classList.contains('live')", "still logged in")

    def test_a_server_on_another_port_of_the_machine(self):
        self.steal(self.daemon.port, self.thief_port)

    def test_both_ports_forwarded_to_a_desk(self):
        ours, theirs = forward(self.daemon.port), forward(self.thief_port)
        self.addCleanup(ours.close)
        self.addCleanup(theirs.close)
        self.steal(ours.getsockname()[1], theirs.getsockname()[1])


if __name__ == "__main__":
    if "--programs" in sys.argv:
        at = sys.argv.index("--programs")
        Cookie.programs = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    main()
