"""OpenStack Swift on this machine alone, spoken to by the protocol of S3: one disk, one copy, no root.

It verifies every signature and the digest of what it is sent, and keeps what it is sent on the disk.
"""
import contextlib
import getpass
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from loopback import free_port, listens, running, until  # noqa: E402

KEY_ID, SECRET, REGION = "test:courier", "a-secret/of+the-test", "loopback-1"
SERVERS = ("account", "container", "object", "proxy")


def missing():
    """The program of which there is none; nothing: all are there."""
    for name in [f"swift-{server}-server" for server in SERVERS] + ["swift-ring-builder"]:
        if shutil.which(name) is None:
            return name
    return None


def configure(folder, ports):
    common = (f"[DEFAULT]\nbind_ip = 127.0.0.1\nuser = {getpass.getuser()}\nswift_dir = {folder}\n"
              f"devices = {folder}/disks\nmount_check = false\nworkers = 0\nfallocate_reserve = 0\n")
    (folder / "swift.conf").write_text("[swift-hash]\nswift_hash_path_prefix = p\nswift_hash_path_suffix = s\n")
    for server in SERVERS[:-1]:
        (folder / f"{server}.conf").write_text(
            f"{common}bind_port = {ports[server]}\n[pipeline:main]\npipeline = {server}-server\n"
            f"[app:{server}-server]\nuse = egg:swift#{server}\n")
        ring = folder / f"{server}.builder"
        device = f"r1z1-127.0.0.1:{ports[server]}/one"
        for words in (["create", "4", "1", "1"], ["add", device, "1"], ["rebalance"]):
            subprocess.run(["swift-ring-builder", ring, *words], check=True, stdout=subprocess.DEVNULL)
    filters = {
        "catch_errors": "", "proxy_logging": "", "memcache": f"memcache_servers = 127.0.0.1:{ports['nobody']}\n",
        "s3api": f"location = {REGION}\ncheck_bucket_owner = true\n",
        "tempauth": f"user_{KEY_ID.replace(':', '_')} = {SECRET} .admin\n", "slo": "", "bulk": ""}
    pipeline = "catch_errors proxy_logging memcache bulk s3api tempauth slo proxy-server"
    (folder / "proxy.conf").write_text(
        f"{common}bind_port = {ports['proxy']}\n[pipeline:main]\npipeline = {pipeline}\n"
        "[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n" +
        "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n{text}" for name, text in filters.items()))


@contextlib.contextmanager
def swift_server(folder):
    """Yields its address and the log of its requests. Nothing is in it."""
    folder = Path(folder)
    (folder / "disks/one").mkdir(parents=True)
    ports = {name: free_port() for name in (*SERVERS, "nobody")}
    configure(folder, ports)
    log = folder / "log"
    commands = [[f"swift-{server}-server", folder / f"{server}.conf", "--verbose"] for server in SERVERS]
    with running(*commands, folder=folder, log=log) as children:
        until(lambda: all(listens(ports[server]) for server in SERVERS),
              lambda: "Swift listens\n" + log.read_text(), children, seconds=120)
        yield f"http://127.0.0.1:{ports['proxy']}", log
