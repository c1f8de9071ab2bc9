"""The real page of a real daemon in a real browser, while programs run and crash.

    python3 tests/browser/live_test.py --programs build/release/bin [--pictures FOLDER]
"""

import sys
import unittest
from datetime import datetime
from urllib.parse import urlsplit

from daemon import Daemon
from support import AXE, EXPECTED_WHEN_CUT, SCREENS, PageTest, main

SECTIONS = ["summary", "curve", "time", "attempts", "why", "log", "boards", "checkpoints", "learning", "events"]


class Live(PageTest):
    programs = "build/release/bin"

    def setUp(self):
        super().setUp()
        self.daemon = Daemon(self.programs)
        self.addCleanup(self.daemon.close)
        self.daemon.until(lambda: self.daemon.row()["last_step"] > 12, "the program makes steps")
        self.browser.requests()

    def log_in(self, *words):
        self.browser.open(self.daemon.link(*words))
        self.browser.wait("document.querySelector('main')")

    def open(self, path="programs/run"):
        self.browser.open(self.daemon.url + path)
        self.wait_live()

    def attempts(self):
        return self.browser.text("#attempts")

    def test_the_page_is_alive_and_asks_nobody_but_the_daemon(self):
        self.log_in()
        self.open()
        self.wait_drawn()
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('main > section')].map((s) => s.id);"), SECTIONS)
        self.assertGreater(self.pixels("--curve-line"), 30)
        step = self.daemon.row()["last_step"]
        self.browser.wait("Number(/step ([\\d,]+)/.exec(document.querySelector('#summary').innerText)?.[1].replaceAll(',', '')) > arguments[0]",
                          "the sentence goes on", step)
        self.browser.run("document.querySelector('#log-text').scrollIntoView();")
        self.browser.wait("new RegExp(`step ${arguments[0]} loss`).test(document.querySelector('#log-text').textContent)",
                          "the log goes on", step + 5)
        foreign = [url for url in self.browser.requests() if urlsplit(url).scheme not in ("data", "about", "blob")
                   and urlsplit(url).netloc != f"127.0.0.1:{self.daemon.port}"]
        self.assertEqual(foreign, [])
        self.no_complaint()

    def test_a_crash_is_seen_within_a_second(self):
        self.log_in()
        self.open()
        self.browser.run("""
            window.seen_ms = {};
            const look = () => {
              for (const row of document.querySelectorAll('#attempts tbody tr')) {
                if (row.innerText.includes('device_oom')) window.seen_ms[row.id] ??= Date.now();
              }
            };
            new MutationObserver(look).observe(document.querySelector('main'), {subtree: true, childList: true, characterData: true});""")
        late = []
        for attempt in (1, 2, 3):  # the best of three: what else the machine does is no fault of the page's
            step = self.daemon.row()["last_step"] + 12  # one that gets nowhere is given up
            self.daemon.until(lambda n=attempt, s=step: self.daemon.row()["attempt"] == n and self.daemon.row()["last_step"] > s, "it runs")
            self.daemon.tell("crash")
            seen = self.browser.wait("window.seen_ms[arguments[0]]", "the crash is on the page", f"attempt-{attempt}")
            happened = [row for row in self.daemon.json("events", "run") if row["kind"] == "exit"][-1]
            late.append(seen - datetime.fromisoformat(happened["at"].replace("Z", "+00:00")).timestamp() * 1000)
        print(f"seen {', '.join(f'{ms:.0f}' for ms in late)} ms after the daemon's event")
        self.assertLess(min(late), 1000)
        # As soon as its ends are drawn they have the colour of a crash.
        self.wait_drawn()
        self.eventually(lambda: self.pixels("--curve-crash") > 20, "the crash is marked on the curve")
        self.browser.wait("document.querySelector('#why').innerText.includes('CUDA out of memory. Tried to allocate <b>2.00 GiB</b>')",
                          "the deciding line is shown")
        self.no_complaint()

    def test_an_operator_stops_and_starts_a_program(self):
        self.log_in()
        self.open()
        self.browser.click("form[data-action=stop] button")
        self.browser.wait("document.querySelector('#action-go') && !document.querySelector('#action-go').disabled", "the cost is said")
        self.assertRegex(self.browser.text("#action-text"), r"step")
        self.assertEqual(self.daemon.row()["state"], "RUNNING")
        self.browser.click("#action-go")
        self.daemon.until(lambda: self.daemon.row()["state"] == "STOPPED", "it is stopped")
        self.browser.wait("/STOPPED/.test(document.querySelector('#summary').innerText)", "the page says so")
        self.browser.click("#action-cancel")
        self.browser.wait("document.querySelector('form[data-action=start] button')", "it can be started again")
        self.browser.click("form[data-action=start] button")
        self.browser.wait("document.querySelector('#action-go') && !document.querySelector('#action-go').disabled", "the dialog")
        self.browser.click("#action-go")
        self.daemon.until(lambda: self.daemon.row()["state"] in ("RUNNING", "STARTING"), "it is started")
        self.no_complaint()

    def test_a_viewer_changes_nothing(self):
        self.log_in("--viewer")
        self.open()
        self.assertEqual(self.browser.run("return document.querySelectorAll('form[data-action]').length;"), 0)
        for path in ("/v1/programs/run/stop", "/v1/programs/run/stop?dry_run=1", "/programs/run/actions/stop", "/v1/shutdown"):
            status = self.browser.run_async("return (await fetch(given[0], {method: 'POST', headers: {'X-Trainward': '1'}})).status;", path)
            self.assertEqual(status, 403, path)
        self.assertEqual(self.daemon.row()["state"], "RUNNING")
        self.browser.console()

    def test_a_lost_connection_is_said_until_the_daemon_is_back(self):
        self.log_in()
        self.open()
        self.daemon.kill()
        self.browser.wait("document.body.classList.contains('stale')", "the page says that the connection is lost")
        self.assertRegex(self.browser.text("#connection"), r"connection lost \d+ s ago; what you see is from .*\d\d:\d\d:\d\d")
        self.daemon.start()
        # Logins are the daemon's own: the next one asks for another, in any window.
        self.browser.wait("document.querySelector('#connection a[href=\"/login\"]') || document.querySelector('#connection.live')",
                          "the page asks to sign in again")
        page = self.browser.window()
        self.browser.new_window()
        self.log_in()
        self.browser.switch(page)
        self.wait_live()
        self.assertFalse(self.browser.run("return document.body.classList.contains('stale');"))
        step = self.daemon.row()["last_step"]
        self.browser.wait("Number(/step ([\\d,]+)/.exec(document.querySelector('#summary').innerText)?.[1].replaceAll(',', '')) > arguments[0]",
                          "the sentence goes on", step)
        self.no_complaint(but=(*EXPECTED_WHEN_CUT, "401"))

    def test_hostile_words_stay_words(self):
        self.log_in()
        self.daemon.tell("hostile")
        self.daemon.until(lambda: not (self.daemon.folder / "hostile").exists(), "it has printed them")
        self.open()
        self.browser.run("document.querySelector('#log-text').scrollIntoView();")
        self.browser.wait("document.querySelector('#log-text').textContent.includes('<script>document.title')", "the line is there as it is")
        self.daemon.tell("hostile")
        self.browser.wait("document.querySelector('#log-text').textContent.split('<script>').length > 2", "and again")
        self.daemon.tell("crash")
        self.browser.wait("document.querySelector('#why').innerText.includes('<b>2.00 GiB</b>')", "evidence is text")
        self.browser.open(self.daemon.url + "programs/%3Cimg%20src=x%20onerror=%22document.title='broken'%22%3E")
        self.assertEqual(self.browser.run("return document.querySelectorAll('img, script:not([src])').length;"), 0)
        self.assertNotEqual(self.browser.run("return document.title;"), "broken")
        self.no_complaint(but=("404",))

    def test_it_is_read_without_a_script(self):
        self.log_in()
        self.daemon.tell("crash")
        self.daemon.until(lambda: len(self.daemon.json("history", "run")) > 1, "it has crashed once")
        self.daemon.until(lambda: (row := self.daemon.row("run"))["state"] == "RUNNING" and row["last_step"] > 0,
                          "it makes steps again")
        self.browser.look(360, 740, script=False)
        for path in ("", "programs/run"):
            self.browser.open(self.daemon.url + path)
            self.assertRegex(self.browser.text("#summary"), r"run\b.*RUNNING.*step", path)
        self.assertTrue(self.browser.run("return document.querySelector('figure.curve > svg')?.getBoundingClientRect().height > 50;"))
        self.assertGreater(self.browser.run("return document.querySelectorAll('#attempts tbody tr').length;"), 1)
        self.assertIn("loss", self.browser.text("#log-text"))
        self.browser.click("form[data-action=stop] button")
        self.browser.wait("/actions\\/stop$/.test(location.pathname) && document.querySelector('main form button')", "the page that asks")
        self.assertEqual(self.daemon.row()["state"], "RUNNING")
        self.browser.click("main form button")
        self.daemon.until(lambda: self.daemon.row()["state"] == "STOPPED", "it is stopped")
        self.browser.look(360, 740)

    def test_it_is_light_and_soon_there(self):
        self.log_in()
        self.open()
        sizes = self.browser.run("""
            const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
              .filter((e) => e.entryType === 'navigation' || ['link', 'script', 'css', 'other'].includes(e.initiatorType));
            return Object.fromEntries(all.map((e) => [new URL(e.name).pathname, e.decodedBodySize]));""")
        first = self.browser.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null;")
        print(f"first paint after {first} ms; {sum(sizes.values())} bytes: {sizes}")
        self.assertLess(sum(sizes.values()), 150_000)
        self.assertTrue(any("page" in name for name in sizes))

    def screens(self):
        """Every page, on every screen, after a crash."""
        self.log_in()
        self.daemon.tell("crash")
        self.daemon.until(lambda: len(self.daemon.json("history", "run")) > 1, "it has crashed once")
        for width, height, dark in SCREENS:
            self.browser.look(width, height, dark)
            for name, path in (("programs", ""), ("program", "programs/run"), ("stop", "programs/run/actions/stop"), ("login", "login")):
                self.browser.open(self.daemon.url + path)
                if name in ("programs", "program"):
                    self.wait_live()
                if name == "program":
                    self.wait_drawn()
                yield f"{name}-{width}-{'dark' if dark else 'light'}"

    def test_pictures_are_kept_and_nothing_leaves_the_screen(self):
        for name in self.screens():
            wide = self.browser.run("return document.documentElement.scrollWidth - innerWidth;")
            self.browser.screenshot(self.pictures / f"{name}.png")
            self.assertLessEqual(wide, 0, f"{name} is wider than its screen")

    @unittest.skipUnless(AXE.exists(), "axe-core is not installed: npm ci in tests/browser")
    def test_axe_finds_nothing_wrong(self):
        for name in self.screens():
            with self.subTest(page=name):
                self.assertEqual(self.axe(), [])


if __name__ == "__main__":
    if "--programs" in sys.argv:
        at = sys.argv.index("--programs")
        Live.programs = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    main()
