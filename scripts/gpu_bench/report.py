"""The results in words and columns."""

# The same model (`large`, bf16, blocks of 1,024) on an H200: tokens a second with batches of 8 and of
# 16, seconds to the first step from nothing and with everything compiled before.
H200 = [
    ("PyTorch 2.11, as AGILLM-3's script", 37_400, None, None, None),
    ("PyTorch 2.11, compiled, fused attention", 115_200, 136_400, "50 to 58", None),
    ("JAX, scan over the layers", 61_000, None, None, "2.9"),
    ("JAX, unrolled", 93_600, None, None, "2.9"),
    ("JAX, unrolled, cuDNN attention", 115_800, None, None, "2.9"),
]


def _number(value, form="{:,.0f}"):
    return "-" if value is None else form.format(value)


def _seconds(value):
    return _number(value, "{:.2f}")


def _bytes(value):
    if not value:
        return "-"
    return f"{value / 1e9:.2f} GB" if value >= 1e8 else f"{value / 1e6:.1f} MB"


def _columns(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in
                                                   zip(row[1:], widths[1:])]).rstrip()
            for row in rows]


def _speed_rows(results):
    batches = results["batches"]
    rows = [["tokens a second"] + [f"batch {batch}" for batch in batches]]
    rows.append(["Trainward, median"] + [_number(b["tokens_per_second_median"])
                                         for b in batches.values()])
    if any("peer" in b for b in batches.values()):
        rows.append(["PyTorch, compiled, in this run"] +
                    [_number(b.get("peer", {}).get("tokens_per_second_median"))
                     for b in batches.values()])
    rows.append(["Trainward, mean"] + [_number(b["tokens_per_second_mean"])
                                       for b in batches.values()])
    return rows


def _h200_rows(results):
    if (results["model"], results["block"]) != ("large", 1024):
        return []
    columns = [{"8": 1, "16": 2}.get(batch) for batch in results["batches"]]
    return [[row[0]] + [_number(row[c]) if c else "-" for c in columns] for row in H200]


def _start_lines(results):
    lines = []
    for batch, b in results["batches"].items():
        said = [f"first step after {_seconds(b['first_step_cold_s'])} s with nothing compiled "
                f"({b['compiled']} programs, {b['compile_ms'] / 1000:.1f} s)"]
        if "first_step_warm_s" in b:
            said.append(f"{_seconds(b['first_step_warm_s'])} s with programs compiled before "
                        f"({b['loaded_warm']} loaded, {b['compiled_warm']} compiled)")
        lines.append(f"batch {batch}: " + ", ".join(said))
        if "crash_exec_to_step_s" in b:
            lines.append(f"  after SIGKILL, {_bytes(b['checkpoint_bytes'])} of checkpoint in memory: "
                         f"step {b['resumed_at_step']} done "
                         f"{_seconds(b['crash_exec_to_step_s'])} s after exec, "
                         f"{_seconds(b['crash_kill_to_step_s'])} s after the kill; "
                         f"{_seconds(b.get('disk_exec_to_step_s'))} s after exec where it is read from "
                         "the disk")
        lines.append(f"  peak memory: host {_bytes(b['host_peak_bytes'])}, "
                     f"device {_bytes(b.get('device_peak_bytes'))}")
    return lines


def speed(results):
    title = (f"{results['model']}, {results.get('parameters', 0):,} parameters, "
             f"{results['precision']}, blocks of {results['block']:,}")
    lines = [title, ""]
    if results["batches"]:
        theirs = _h200_rows(results)
        lines += _columns(_speed_rows(results) + theirs) + [""] + _start_lines(results)
        if theirs:
            starts = [f"{name} {cold or warm} s{' (warm)' if warm else ''}"
                      for name, _, _, cold, warm in H200 if cold or warm]
            lines += ["", "The others were measured on an NVIDIA H200. First steps there: " +
                      "; ".join(dict.fromkeys(starts))]
    for failure in results["failed"]:
        lines += ["", "FAILED: " + failure]
    return "\n".join(lines)


def losses(results):
    device, cpu = results["curves"].values()
    shown = sorted({0, len(device) // 4, len(device) // 2, 3 * len(device) // 4, len(device) - 1})
    rows = [["step"] + list(results["curves"]) + ["difference"]]
    rows += [[str(i + 1), f"{device[i]:.4f}", f"{cpu[i]:.4f}", f"{device[i] - cpu[i]:+.4f}"]
             for i in shown]
    precisions = ", ".join(f"{name} in {p}" for name, p in results["precision"].items())
    return "\n".join(
        [f"{results['model']}, {results['steps']} steps: {precisions}", ""] + _columns(rows) +
        ["", f"largest difference of the losses: {results['largest_difference']:.4f} at step "
             f"{results['at_step']} ({100 * results['largest_relative']:.2f} % at most)"])
