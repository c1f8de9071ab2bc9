"""A real Prometheus reads a real daemon, with a token and the rules: a program that gave up is told.

scrape_test.py PROGRAMS RULES; 77: prometheus is not installed.
"""
import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from loopback import asked, free_port, running, until  # noqa: E402

TOKEN = "viewer-of-a-test-0123456789abcdef0123456789"


def told(port, what):
    answer = asked(f"http://127.0.0.1:{port}/api/v1/{what}")
    return answer and answer["data"]


def main(programs, rules):
    if shutil.which("prometheus") is None:
        print("prometheus is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="trainward-prometheus-") as name:
        folder, ours, theirs = Path(name), free_port(), free_port()
        for file, text in {"viewers": f"prometheus {TOKEN}\n", "token": TOKEN}.items():
            (folder / file).write_text(text)
            (folder / file).chmod(0o600)
        (folder / "trainward.yaml").write_text(
            f"listen: 127.0.0.1:{ours}\ntokens: {{viewer: viewers}}\n"
            "programs:\n  broken: {command: [sh, -c, 'exit 78']}\n")
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [rules],
            "scrape_configs": [{"job_name": "trainward", "static_configs": [{"targets": [f"127.0.0.1:{ours}"]}],
                                "authorization": {"credentials_file": str(folder / "token")}}]}))
        log = folder / "log"
        with running([f"{programs}/trainwardd"],
                     ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                      f"--web.listen-address=127.0.0.1:{theirs}"], folder=folder, log=log) as children:
            def fires():
                alerts = (told(theirs, "alerts") or {"alerts": []})["alerts"]
                return any(alert["labels"]["alertname"] == "ProgramGaveUp" and alert["state"] == "firing"
                           and alert["labels"]["program"] == "broken" for alert in alerts)
            until(fires, lambda: "ProgramGaveUp fires for 'broken'\n" + log.read_text(), children)
            target = told(theirs, "targets")["activeTargets"][0]
            assert target["health"] == "up" and not target["lastError"], target
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
