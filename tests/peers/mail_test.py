"""The mail channel by way of a real sendmail, msmtp, into a real server of SMTP: what arrives is what was meant.

mail_test.py PROGRAMS; 77: msmtp or aiosmtpd is not installed.
"""
import email.policy
import email.utils
import json
import mailbox
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from loopback import free_port, listens, running, until  # noqa: E402

TO, FROM = ["me@example.org", "you@example.org"], "box@example.org"
# Of its log: a line that is a header's or an mbox's elsewhere, bytes beyond ASCII, more than a line of a mail may have.
LINES = ["From: the beginning, Größe 3 €", "x" * 3000]


def write_configurations(folder, port):
    script = "printf '%s\\n' " + " ".join(f"'{line}'" for line in LINES) + " >&2; exit 78"
    (folder / "trainward.yaml").write_text(json.dumps({
        "notify": {"channels": {"post": {"mail": {"to": TO, "from": FROM, "sendmail": shutil.which("msmtp")}}}},
        "programs": {"broken": {"command": ["sh", "-c", script]}}}, ensure_ascii=False))
    settings = folder / ".msmtprc"
    settings.touch(mode=0o600)
    settings.write_text(f"account default\nhost 127.0.0.1\nport {port}\nfrom {FROM}\n")


def read(file):
    return email.message_from_binary_file(file, policy=email.policy.default)


def check(mail):
    assert [address for _, address in email.utils.getaddresses([mail["To"]])] == TO, mail["To"]
    assert mail["X-RcptTo"] == ", ".join(TO) and mail["X-MailFrom"] == FROM, mail["X-RcptTo"]
    assert email.utils.parseaddr(mail["From"])[1] == FROM and "broken" in mail["Subject"], mail["Subject"]
    assert email.utils.parsedate_to_datetime(mail["Date"]) and mail["Message-ID"] and mail["References"], mail.items()
    text = mail.get_content()
    assert "Somebody has to act" in text and "trainwardctl start broken" in text, text
    assert LINES[0] in text and LINES[1][:200] in text, text
    assert not mail.defects, mail.defects


def main(programs):
    for name in "msmtp", "aiosmtpd":
        if shutil.which(name) is None:
            print(f"{name} is not installed: scripts/setup --peers")
            return 77
    with tempfile.TemporaryDirectory(prefix="trainward-mail-") as name:
        folder, log, port = Path(name), Path(name) / "log", free_port()
        write_configurations(folder, port)
        with running(["aiosmtpd", "-n", "-l", f"127.0.0.1:{port}", "-c", "aiosmtpd.handlers.Mailbox", folder / "mails"],
                     folder=folder, log=log) as server:
            until(lambda: listens(port), lambda: "aiosmtpd listens\n" + log.read_text(), server)
            with running([f"{programs}/trainwardd"], folder=folder, log=log,
                         environment={**os.environ, "HOME": str(folder)}) as daemon:
                box = mailbox.Maildir(folder / "mails", create=False, factory=read)
                until(lambda: len(box) > 0, lambda: "a mail arrives\n" + log.read_text()[-6000:], server + daemon)
                mails = list(box)
        assert len(mails) == 1, mails
        check(mails[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
