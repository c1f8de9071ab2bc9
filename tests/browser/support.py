"""What the browser tests share: one browser for all of a file, pictures, and the rules of axe-core."""

import sys
import unittest
from pathlib import Path

from alone import unshare_network
from browser import Browser, missing
from patience import LIMIT_S, until

HERE = Path(__file__).resolve().parent
AXE = HERE / "node_modules/axe-core/axe.min.js"
# The status of a test that was skipped, for ctest.
SKIPPED = 77
# What the browser says of a connection that is cut, which some tests do.
EXPECTED_WHEN_CUT = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET",
                     "ERR_EMPTY_RESPONSE", "ERR_NETWORK_IO_SUSPENDED", "ERR_SOCKET_NOT_CONNECTED")
SCREENS = [(360, 740, False), (360, 740, True), (1440, 900, False), (1440, 900, True)]


class PageTest(unittest.TestCase):
    browser: Browser
    pictures = Path("build/browser")

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        self.first = self.browser.window()
        self.browser.new_window()
        self.browser.look(1440, 900)
        self.browser.console()

    def tearDown(self):
        for handle in self.browser.ask("GET", "/window/handles"):
            if handle != self.first:
                self.browser.switch(handle)
                self.browser.close_window()
        self.browser.switch(self.first)

    def eventually(self, condition, what, limit=LIMIT_S):
        """Until a thing outside the page is so; its value."""
        return until(condition, what, limit)

    def wait_live(self):
        self.browser.wait("document.querySelector('#connection')?.classList.contains('live')", "the stream is open")

    def wait_drawn(self):
        self.browser.wait("document.querySelector('.curve-readout')?.textContent.includes('step')", "the curve is drawn")

    # That the tests count pixels is no fault of the page's.
    def no_complaint(self, but=()):
        self.assertEqual([line for line in self.browser.console() if not any(word in line for word in (*but, "willReadFrequently"))], [])

    def pixels(self, colour):
        """How many pixels of the curve's canvas have about this colour, a custom property of the page."""
        return self.browser.run("""
            const canvas = document.querySelector('.curve-plot canvas');
            const probe = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
            probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim();
            probe.fillRect(0, 0, 1, 1);
            const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
            const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) {
              if (data[i + 3] > 128 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 48) ++count;
            }
            return count;""", colour)

    def axe(self):
        """What axe-core finds wrong with the page, a line each."""
        self.browser.run(AXE.read_text(encoding="utf-8"))
        found = self.browser.run_async("return (await axe.run(document, {resultTypes: ['violations']})).violations;")
        self.assertIsInstance(found, list, found)
        return [f"{rule['id']}: {rule['help']}: {node['target']} {node.get('failureSummary', '')}"
                for rule in found for node in rule["nodes"]]


def main():
    reason = missing()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    if "--pictures" in sys.argv:
        at = sys.argv.index("--pictures")
        PageTest.pictures = Path(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    if not unshare_network():
        print("the network cannot be taken away here; the addresses that are asked for are compared all the same")
    unittest.main(module="__main__")
