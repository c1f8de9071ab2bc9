"""What the page's script does, against a server that answers as the daemon does: what no real run can
show within a test."""

import gzip
import json
import random
import unittest

from stand_in import ASSETS, Run, StandIn
from support import AXE, EXPECTED_WHEN_CUT, SCREENS, PageTest, main

# A page that was open for a day may hold this much more than after its first events: what the browser's
# own caches and compiled code come to, not what a page that keeps everything would (several MiB).
MORE_BYTES, MORE_NODES = 1_000_000, 400


class Script(PageTest):
    def setUp(self):
        super().setUp()
        self.server = StandIn(Run())
        self.addCleanup(self.server.close)
        self.world = self.server.world

    def open(self):
        self.browser.open(self.server.url)
        self.wait_drawn()
        self.wait_live()

    def send_step(self):
        self.world.step += 1
        self.world.send("step", {"now_ms": self.world.run.now_ms, "program": "gpt2-base", "step": self.world.step, "attempt": 12,
                                 "loss": self.world.run.loss(self.world.step), "tokens_per_second": 900})

    def send_event(self):
        self.world.send("event", {"id": self.world.newest_id, "kind": "attempt_ended"}, with_id=True)

    def test_a_page_of_a_day_holds_no_more_than_at_the_start(self):
        self.open()
        self.browser.run("document.querySelector('#log-text').scrollIntoView();")
        self.browser.wait("document.querySelectorAll('#log-text > span').length > 1000", "the log is there")

        def a_part(events, steps, lines):
            for _ in range(events):
                self.send_event()
            for _ in range(steps):
                self.send_step()
            self.world.log += b"".join(b"line %d of a log that goes on and on\n" % i for i in range(lines))
            newest = f"event-{self.world.newest_id}"
            self.browser.wait("document.getElementById(arguments[0])", f"{newest} is shown", newest)
            last = b"line %d of" % (lines - 1)
            self.browser.wait("document.querySelector('#log-text').lastChild.textContent.startsWith(arguments[0])", "the log's end",
                              last.decode())

        for _ in range(3):
            a_part(300, 300, 6000)
        before = self.browser.heap()
        for _ in range(12):  # 6,000 events, 12,000 steps, 72,000 lines
            a_part(500, 1000, 6000)
        after = self.browser.heap()
        print(f"held after the first events {before}, after a day of them {after}")
        self.assertLess(after["JSHeapUsedSize"], before["JSHeapUsedSize"] + MORE_BYTES)
        self.assertLess(after["Nodes"], before["Nodes"] + MORE_NODES)
        self.assertLessEqual(after["JSEventListeners"], before["JSEventListeners"])
        self.assertLessEqual(self.browser.run("return document.querySelector('#log-text').childNodes.length;"), 5000)
        self.no_complaint()

    def test_a_cut_stream_is_said_and_resumed_after_the_newest_event(self):
        self.open()
        self.send_event()
        self.browser.wait(f"document.getElementById('event-{self.world.newest_id}')", "the event is shown")
        with self.world.lock:
            self.world.refuse, self.world.cut = True, self.world.cut + 1
            self.world.lock.notify_all()
        self.browser.wait("document.body.classList.contains('stale')", "the page says that the connection is lost")
        self.assertRegex(self.browser.text("#connection"), r"connection lost \d+ s ago; what you see is from .*\d\d:\d\d:\d\d")
        self.world.newest_id += 1  # while nobody listens
        self.world.refuse = False
        self.wait_live()
        self.assertFalse(self.browser.run("return document.body.classList.contains('stale');"))
        self.browser.wait(f"document.getElementById('event-{self.world.newest_id}')", "what came meanwhile is shown")
        self.assertEqual(self.world.resumed_after, str(self.world.newest_id - 1))
        self.no_complaint(but=(*EXPECTED_WHEN_CUT, "503"))

    def test_a_page_that_is_signed_out_says_so(self):
        self.open()
        with self.world.lock:
            self.world.refuse, self.world.cut = 401, self.world.cut + 1
            self.world.lock.notify_all()
        self.browser.wait("document.querySelector('#connection a[href=\"/login\"]')", "the page asks to sign in again")

    def test_a_page_that_nobody_sees_keeps_no_stream(self):
        self.open()
        mine = self.browser.window()
        self.eventually(lambda: self.world.streams == 1, "one stream")
        other = self.browser.new_window()
        self.browser.open("about:blank")
        self.eventually(lambda: self.world.streams == 0 or not self.is_hidden(mine, other), "the stream of a hidden page is closed")
        self.browser.switch(mine)
        self.wait_live()
        self.eventually(lambda: self.world.streams == 1, "one stream")

    def is_hidden(self, window, back):
        self.browser.switch(window)
        hidden = self.browser.run("return document.hidden;")
        self.browser.switch(back)
        return hidden

    def test_what_the_reader_opened_stays_when_a_section_changes(self):
        self.open()
        self.browser.run("""
            const row = document.querySelector('#attempts tbody tr:nth-child(3)');
            row.querySelector('details').open = true;
            row.querySelector('summary').focus();
            getSelection().selectAllChildren(row.querySelector('p'));
            window.row = row; window.words = getSelection().toString();""")
        for _ in range(3):
            self.send_event()
            newest = self.world.newest_id
            self.browser.wait(f"document.getElementById('event-{newest}')", "the page has changed")
        self.assertTrue(self.browser.run("""
            return window.row.isConnected && window.row.querySelector('details').open && window.words.length > 10 &&
              document.activeElement === window.row.querySelector('summary') && getSelection().toString() === window.words;"""))

    def test_the_curve_is_drawn_and_read_with_keys(self):
        self.open()
        for colour in ("--curve-line", "--curve-crash", "--curve-held-out"):
            self.assertGreater(self.pixels(colour), 60, colour)
        self.browser.run("document.querySelector('.curve-plot [role=slider]').focus();")
        read = lambda: self.browser.run("return document.querySelector('[role=slider]').getAttribute('aria-valuetext');")  # noqa: E731
        newest = read()
        self.browser.press("ArrowLeft")
        self.eventually(lambda: read() != newest, "the cursor has moved")
        self.browser.press("p")
        self.eventually(lambda: "ended: " in read(), "the end of an attempt is read")
        at = lambda name: int(self.browser.run("return document.querySelector('[role=slider]').getAttribute(arguments[0]);", f"aria-value{name}"))  # noqa: E731
        whole = at("max") - at("min")
        self.browser.press("+", "+", "+", "+", "+")
        self.eventually(lambda: at("max") - at("min") < whole / 6, "it is zoomed")
        self.eventually(lambda: "steps" not in read().split("·")[0], "single steps are fetched")
        self.browser.press("0")
        self.eventually(lambda: at("max") - at("min") == whole, "all is seen again")
        self.no_complaint()

    def test_a_patched_tree_is_the_new_one_and_keeps_its_named_parts(self):
        seed = random.randrange(1 << 31)
        self.open()
        wrong = self.browser.run_async("""
            const {patch} = await import('/assets/patch.js');
            let state = given[0];
            const chance = (n) => { state = (state * 1103515245 + 12345) % 2147483648; return Math.floor(state / 65536) % n; };
            const tree = (depth) => {
              const ids = [...'abcdefgh'].filter(() => chance(2)).sort(() => chance(3) - 1);
              const nodes = Array.from({length: chance(7)}, () => chance(3) === 0 ? `text ${chance(9)}`
                : `<${'pbi'[chance(3)]} title="${chance(4)}"${chance(2) ? ` data-x="${chance(4)}"` : ''}>${depth ? tree(depth - 1) : chance(9)}</b>`
                    .replace(/<(.)( [^]*)<\\/b>$/, '<$1$2</$1>'));
              return nodes.concat(depth === 2 ? ids.map((id) => `<div id="${id}">${tree(depth - 1)}</div>`) : []).join('');
            };
            for (let round = 0; round < 400; ++round) {
              const old = document.createElement('div');
              const next = document.createElement('template');
              old.innerHTML = tree(2);
              next.innerHTML = tree(2);
              const named = new Map([...old.querySelectorAll(':scope > [id]')].map((node) => [node.id, node]));
              const live = document.createElement('canvas');
              live.dataset.live = '';
              if (round % 2) old.insertBefore(live, old.childNodes[chance(old.childNodes.length + 1)] ?? null);
              const wanted = document.createElement('div');
              wanted.append(next.content.cloneNode(true));
              patch(old, next.content);
              if (round % 2 && live.parentNode !== old) return [round, 'what a script looks after is gone'];
              live.remove();
              for (const node of old.querySelectorAll(':scope > [id]')) {
                if (named.has(node.id) && named.get(node.id) !== node) return [round, `${node.id} was made anew`];
              }
              old.normalize();
              wanted.normalize();
              for (const node of [...old.querySelectorAll('[title]'), ...wanted.querySelectorAll('[title]')]) node.removeAttribute('title');
              if (!old.isEqualNode(wanted)) return [round, old.innerHTML, wanted.innerHTML];
            }
            return null;""", seed)
        self.assertIsNone(wrong, f"seed {seed}")

    def test_a_run_that_has_just_begun(self):
        nothing = {"program": "gpt2-base", "metric": "loss", "from": 0, "to": 0, "first_step": None, "newest_step": None, "bucket_steps": 1,
                   "columns": {name: [] for name in ("step", "min", "max", "mean", "count", "nan", "attempt", "at_ms", "tokens")},
                   "lost": [], "attempts": [], "evaluations": {"step": [], "loss": [], "attempt": []}, "checkpoints": []}
        one = {**nothing, "first_step": 1, "newest_step": 1, "to": 1, "columns": {
            "step": [1], "min": [10.5], "max": [10.5], "mean": [10.5], "count": [1], "nan": [0], "attempt": [1],
            "at_ms": [self.world.run.now_ms], "tokens": [None]},
            "attempts": [{"attempt": 1, "first_step": None, "last_step": 1, "resume_step": 0, "kept_step": 0, "steps_lost": 0, "cause": "",
                          "board": "", "began_ms": self.world.run.now_ms - 9, "ended_ms": 0}]}
        self.world.run.curve = lambda query: nothing
        self.browser.open(self.server.url)
        self.wait_live()
        self.browser.wait("document.querySelector('.curve-readout').textContent.includes('nothing yet')")
        self.world.run.curve = lambda query: one
        self.send_event()
        self.browser.wait("document.querySelector('.curve-readout').textContent.includes('10.5')")
        for mode in ("tokens", "time", "step"):
            self.browser.run("const box = document.querySelectorAll('.curve-tools select')[1]; box.value = arguments[0];"
                             "box.dispatchEvent(new Event('change'));", mode)
            self.browser.press("c", "+", "-", "ArrowLeft", "ArrowRight", "n", "p", "0")
        self.browser.run("document.querySelector('.curve-tools button').click();")
        self.browser.wait("document.querySelector('.curve-readout').textContent.includes('10.5')")
        self.no_complaint()

    def test_every_metric_and_every_x_is_drawn(self):
        self.open()
        choose = ("const box = document.querySelectorAll('.curve-tools select')[arguments[0]]; box.value = arguments[1];"
                  "box.dispatchEvent(new Event('change'));")
        for metric in ("grad_norm", "learning_rate", "tokens_per_second", "loss"):
            self.browser.run(choose, 0, metric)
            self.browser.wait("document.querySelector('.curve-readout').textContent.includes(arguments[0])", metric, metric.replace("_", " "))
            self.eventually(lambda: self.pixels("--curve-line") > 60, metric)
        for mode in ("tokens", "time", "step"):
            self.browser.run(choose, 1, mode)
            self.eventually(lambda: self.pixels("--curve-line") > 60, mode)
        self.browser.run("document.querySelector('.curve-tools button').click();")
        self.eventually(lambda: self.pixels("--curve-line") > 60, "logarithmic")
        self.no_complaint()

    def test_the_log_is_followed_searched_and_stays_text(self):
        self.world.log = b"first\n<img src=x onerror=\"document.title='broken'\">\n\x1b[31mred\x1b[0m \xff\xfe end\n10 %\r20 %\r30 %\nneedle one\n"
        self.open()
        self.browser.run("document.querySelector('#log-text').scrollIntoView();")
        self.browser.wait("document.querySelector('#log-text').textContent.includes('needle one')")
        text = self.browser.run("return document.querySelector('#log-text').textContent;")
        self.assertIn("<img src=x", text)
        self.assertIn("\nred \ufffd\ufffd end\n30 %\n", text)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#log-text img').length;"), 0)
        self.world.log += b"more " * 10 + b"needle two\nhalf a li"
        self.browser.wait("document.querySelector('#log-text').textContent.endsWith('half a li\\n')")
        self.world.log += b"ne\n"
        self.browser.wait("document.querySelector('#log-text').textContent.endsWith('half a line\\n')")
        self.browser.press("/")
        self.browser.type("#log-search", "NEEDLE")
        self.browser.wait("document.querySelector('#log-found').textContent === '2 found'")
        self.browser.press("Enter")
        self.browser.wait("document.querySelector('#log-found').textContent === '2 of 2'")
        self.assertEqual(self.browser.run("return CSS.highlights.get('found').size;"), 2)
        self.assertEqual(self.browser.run("return document.querySelector('#log-follow').getAttribute('aria-pressed');"), "false")
        self.no_complaint()

    def test_keys_and_their_visible_counterparts(self):
        self.open()
        self.browser.press("j", "j")
        self.assertEqual(self.browser.run("return document.activeElement.closest('tr').id;"), "attempt-11")
        self.browser.press("k")
        self.assertEqual(self.browser.run("return document.activeElement.closest('tr').id;"), "attempt-12")
        self.browser.press("?")
        self.browser.wait("document.querySelector('#help').open")
        self.browser.press("Escape")
        self.browser.wait("!document.querySelector('#help').open")
        before = self.browser.text("#attempts time")
        self.browser.press("u")
        self.browser.wait("document.querySelector('#attempts time').textContent.endsWith('UTC')", f"{before} becomes UTC")
        self.browser.click("#tools button")
        self.browser.wait("!document.querySelector('#attempts time').textContent.endsWith('UTC')")
        self.no_complaint()

    def test_an_action_says_what_it_costs_before_it_is_done(self):
        self.open()
        self.browser.click("form[data-action=stop] button")
        self.browser.wait("document.querySelector('#action-text')?.textContent.includes('would be done again')")
        self.assertEqual(self.world.posted, ["/v1/programs/gpt2-base/stop?dry_run=1"])
        self.assertEqual(self.browser.run("return document.activeElement.id;"), "action-cancel")
        self.browser.click("#action-go")
        self.browser.wait("document.querySelector('#action-text').textContent === 'stopped'")
        self.assertEqual(self.world.posted[1:], ["/v1/programs/gpt2-base/stop"])
        self.no_complaint()

    def test_the_script_is_small(self):
        sizes = {path.name: path.stat().st_size for path in ASSETS.iterdir()}
        scripts = sum(size for name, size in sizes.items() if name.endswith(".js"))
        self.assertLess(scripts, 70_000, json.dumps(sizes))
        sent = sum(len(gzip.compress(path.read_bytes(), 9)) for path in ASSETS.iterdir())
        self.assertLess(sent, 32_000, "style and script as they are sent")

    @unittest.skipUnless(AXE.exists(), "axe-core is not installed: npm ci in tests/browser")
    def test_axe_finds_nothing_wrong(self):
        for width, height, dark in SCREENS:
            with self.subTest(width=width, dark=dark):
                self.browser.look(width, height, dark)
                self.open()
                self.assertEqual(self.axe(), [])
                self.browser.run("document.querySelector('form[data-action=stop] button').click();")
                self.browser.wait("document.querySelector('#action-go') && !document.querySelector('#action-go').disabled")
                self.assertEqual(self.axe(), [])
                self.browser.run("document.querySelector('#action-dialog').close(); document.querySelector('#help').showModal();")
                self.assertEqual(self.axe(), [])


if __name__ == "__main__":
    main()
