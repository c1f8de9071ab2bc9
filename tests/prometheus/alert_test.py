"""A real Alertmanager is told by our channel, and by a real Prometheus with our rules, that a program gave up.

It passes on what is new, once, and that it is over.
alert_test.py PROGRAMS RULES; 77: one of the two is not installed.
"""
import http.server
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from loopback import asked, free_port, running, until  # noqa: E402

TOKEN = "viewer-of-a-test-0123456789abcdef0123456789"
SERVERS = ("prometheus", "prometheus-alertmanager")


class Receiver(http.server.ThreadingHTTPServer):
    """Whom Alertmanager tells: what it was told, as (status, name of the alert)."""
    def __init__(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                receiver.told += [(alert["status"], alert["labels"]["alertname"]) for alert in said["alerts"]]
                self.send_response(200)
                self.end_headers()

            def log_message(self, *words):
                pass

        self.told = []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def write_configurations(folder, ports, receiver, rules):
    (folder / "alertmanager.yml").write_text(json.dumps({
        # Alerts that Prometheus has of its own are grouped apart from ours.
        "route": {"receiver": "test", "group_by": ["alertname"], "group_wait": "1s", "group_interval": "1s",
                  "repeat_interval": "1h"},
        "receivers": [{"name": "test", "webhook_configs": [
            {"url": f"http://127.0.0.1:{receiver.server_port}/", "send_resolved": True}]}]}))
    alertmanager = f"127.0.0.1:{ports['alertmanager']}"
    (folder / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [rules], "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
        "scrape_configs": [{"job_name": "trainward", "authorization": {"credentials_file": str(folder / "token")},
                            "static_configs": [{"targets": [f"127.0.0.1:{ports['trainwardd']}"]}]}]}))
    for file, text in {"viewers": f"prometheus {TOKEN}\n", "token": TOKEN}.items():
        (folder / file).touch(mode=0o600)
        (folder / file).write_text(text)
    (folder / "trainward.yaml").write_text(
        f"listen: 127.0.0.1:{ports['trainwardd']}\ntokens: {{viewer: viewers}}\n"
        f"notify: {{channels: {{alerts: {{alertmanager: {{url: 'http://{alertmanager}'}}}}}}}}\n"
        "programs:\n  broken: {command: [sh, -c, '[ -e mended ] || exit 78']}\n")


def scenario(programs, folder, ports, receiver, log):
    def alerts():
        """Those that are firing, by name."""
        found = asked(f"http://127.0.0.1:{ports['alertmanager']}/api/v2/alerts") or []
        names = [alert["labels"]["alertname"] for alert in found]
        assert len(names) == len(set(names)), f"an alert is there twice: {names}"
        return dict(zip(names, found))

    def wait(condition, what):
        return until(condition, lambda: f"{what}\n{alerts()}\n{receiver.told}\n{log.read_text()[-6000:]}")

    trainwardd = [f"{programs}/trainwardd"]
    with running(trainwardd, folder=folder, log=log):
        wait(lambda: {"TrainwardGaveUp", "ProgramGaveUp"} <= alerts().keys(), "both are told")
        wait(lambda: len(receiver.told) >= 2, "both are passed on")
        first = alerts()["TrainwardGaveUp"]
        labels = first["labels"]
        assert labels["severity"] == "critical" and labels["program"] == "broken" and labels["run"] and \
            labels["instance"], labels
        assert "broken" in first["annotations"]["summary"] and first["annotations"]["cause"], first["annotations"]
    # The next courier tells it again, which is the same alert and nothing new to whoever is told.
    with running(trainwardd, folder=folder, log=log):
        again = wait(lambda: (now := alerts().get("TrainwardGaveUp")) and now["endsAt"] > first["endsAt"] and now,
                     "it is told again")
        assert again["startsAt"] == first["startsAt"] and again["fingerprint"] == first["fingerprint"], again
        (folder / "mended").touch()
        subprocess.run([f"{programs}/trainwardctl", "start", "broken"], cwd=folder, check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        for name in "TrainwardGaveUp", "ProgramGaveUp":
            wait(lambda: ("resolved", name) in receiver.told, f"{name} is over")
    told = [status for status, name in receiver.told if name == "TrainwardGaveUp"]
    assert told == ["firing", "resolved"], receiver.told


def main(programs, rules):
    for name in SERVERS:
        if shutil.which(name) is None:
            print(f"{name} is not installed: scripts/setup --peers")
            return 77
    with tempfile.TemporaryDirectory(prefix="trainward-alerts-") as name, Receiver() as receiver:
        folder, log = Path(name), Path(name) / "log"
        ports = {name: free_port() for name in ("trainwardd", "alertmanager", "prometheus")}
        write_configurations(folder, ports, receiver, rules)
        with running(["prometheus-alertmanager", "--config.file=alertmanager.yml", "--storage.path=alerts",
                      "--cluster.listen-address=", f"--web.listen-address=127.0.0.1:{ports['alertmanager']}"],
                     ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                      f"--web.listen-address=127.0.0.1:{ports['prometheus']}"], folder=folder, log=log):
            scenario(programs, folder, ports, receiver, log)
        receiver.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
