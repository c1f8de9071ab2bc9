#!/usr/bin/env python3
"""How long the page's script is busy for a frame while a curve is moved: a run of 10^6 steps in 2,000
attempts, zoomed in and out by the wheel and dragged, in Debian's Chromium with software drawing.

    tests/bench/page_frames.py [STEPS ATTEMPTS]

Prints the median, the 95th and 99th percentile and the longest of the frames in which the curve is
drawn. Fails when one of a hundred takes 50 ms or more; on a machine that is busy with other things the
longest says more about those.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "browser"))
from browser import Browser, missing  # noqa: E402
from stand_in import Run, StandIn  # noqa: E402

# In the page before its own script: what it does in a frame is timed, drawing included (reading one
# pixel back makes the canvas draw what was only noted down).
WATCH = """
window.frames_ms = [];
let drawn = false;
const clear = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.clearRect = function (...box) {
  drawn ||= this.canvas.hasAttribute('aria-hidden');
  return clear.apply(this, box);
};
const real = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (act) => real((now) => {
  drawn = false;
  const began = performance.now();
  act(now);
  if (!drawn) return;
  document.querySelector('.curve-plot canvas').getContext('2d').getImageData(0, 0, 1, 1);
  window.frames_ms.push(performance.now() - began);
});
"""

MOVE = """
const glass = document.querySelector('.curve-plot [role=slider]');
glass.focus();
const {left, top, width} = glass.getBoundingClientRect();
const frame = () => new Promise((go) => setTimeout(() => requestAnimationFrame(go), 0));
const wheel = (x, by) => glass.dispatchEvent(new WheelEvent('wheel', {deltaY: by, clientX: left + x, clientY: top + 50, bubbles: true, cancelable: true}));
const pointer = (kind, x, buttons) => glass.dispatchEvent(new PointerEvent(kind, {pointerId: 1, pointerType: 'mouse', clientX: left + x,
  clientY: top + 80, buttons, bubbles: true, cancelable: true}));
glass.setPointerCapture = () => {};
await frame();
window.frames_ms.length = 0;
for (let round = 0; round < given[0]; ++round) {
  for (let i = 0; i < 30; ++i) { wheel(width * (0.3 + 0.05 * round), -120); await frame(); }
  pointer('pointerdown', width / 2, 1);
  for (let i = 0; i < 60; ++i) { pointer('pointermove', width / 2 + i * 6 * (round % 2 ? 1 : -1), 1); await frame(); }
  pointer('pointerup', width / 2, 0);
  for (let i = 0; i < 40; ++i) { wheel(width / 2, 120); await frame(); }
}
return window.frames_ms;
"""


def main():
    reason = missing()
    if reason:
        print(f"skipped: {reason}")
        return 77
    steps, attempts = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (1_000_000, 2_000)
    server, browser = StandIn(Run(steps, attempts)), Browser()
    try:
        browser.ask("POST", "/timeouts", {"script": 300_000})
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        browser.look(1440, 900)
        browser.open(server.url)
        browser.wait("document.querySelector('.curve-readout')?.textContent.includes('loss')")
        worst = 0.0
        for mode in ("step", "tokens", "time"):
            browser.run("const box = document.querySelectorAll('.curve-tools select')[1]; box.value = arguments[0];"
                        "box.dispatchEvent(new Event('change'));", mode)
            times = sorted(browser.run_async(MOVE, 4))
            at = lambda share: times[min(int(len(times) * share), len(times) - 1)]  # noqa: E731
            worst = max(worst, at(0.99))
            print(f"by {mode:6}  {len(times)} frames: median {at(0.5):.1f} ms, 95 % {at(0.95):.1f} ms, "
                  f"99 % {at(0.99):.1f} ms, longest {times[-1]:.1f} ms")
        return 0 if worst < 50 else 1
    finally:
        browser.close()
        server.close()


if __name__ == "__main__":
    sys.exit(main())
