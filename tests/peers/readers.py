"""Others' programs that read a bucket: s3cmd, rclone, aws. Those that are installed, each with its own signatures."""
import os
import shutil
import subprocess
import urllib.parse


def read(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def commands(endpoint, bucket, prefix, keys, region, into, config):
    """Name, words and what is added to the environment."""
    host = urllib.parse.urlsplit(endpoint).netloc
    config.write_text(f"[default]\naccess_key = {keys[0]}\nsecret_key = {keys[1]}\nhost_base = {host}\n"
                      f"host_bucket = {host}\nbucket_location = {region}\nuse_https = False\n")
    variables = {"AWS_ACCESS_KEY_ID": keys[0], "AWS_SECRET_ACCESS_KEY": keys[1], "AWS_DEFAULT_REGION": region}
    yield "s3cmd", ["s3cmd", "--config", config, "--no-progress", "get", "--recursive",
                    f"s3://{bucket}/{prefix}/", f"{into}/"], {}
    yield "rclone", ["rclone", "--config", "", "copy", f":s3:{bucket}/{prefix}", into], {
        **variables, "RCLONE_S3_ENDPOINT": endpoint, "RCLONE_S3_REGION": region, "RCLONE_S3_ENV_AUTH": "true",
        "RCLONE_S3_PROVIDER": "Other"}
    # Debian's: others of this name are not what its package says.
    yield "/usr/bin/aws", ["/usr/bin/aws", "--endpoint-url", endpoint, "s3", "cp", "--recursive", "--only-show-errors",
                           f"s3://{bucket}/{prefix}/", into], variables


def all_of(endpoint, bucket, prefix, keys, region, folder):
    """Yields what each of them finds: name, and bytes by key below the prefix."""
    into = folder / "read"
    for name, words, variables in commands(endpoint, bucket, prefix, keys, region, into, folder / "s3cfg"):
        if shutil.which(name) is None:
            continue
        into.mkdir()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        subprocess.run(words, env={**clean, **variables}, stdout=subprocess.DEVNULL, check=True, timeout=300)
        yield name, read(into)
        shutil.rmtree(into)
