"""AWS's signature version 4, by its published description alone: what ours is compared with."""
import hashlib
import hmac
import urllib.parse


def quoted(text):
    return urllib.parse.quote(text, safe="-_.~")


def signature(method, target, headers, names, body_sha256, secret, scope):
    """In hexadecimal. `headers` with names in small letters, of which `names` are signed; `target` as it is
    sent; `scope`: (day, region, service)."""
    path, _, query = target.partition("?")
    pairs = [pair.partition("=")[::2] for pair in query.split("&")] if query else []
    pairs = sorted((quoted(urllib.parse.unquote(name)), quoted(urllib.parse.unquote(value)))
                   for name, value in pairs)
    path = "/".join(quoted(urllib.parse.unquote(part)) for part in path.split("/"))
    canonical = "\n".join([
        method, path, "&".join(f"{name}={value}" for name, value in pairs),
        "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in sorted(names)),
        ";".join(sorted(names)), body_sha256])
    words = (*scope, "aws4_request")
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], "/".join(words),
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for word in words:
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
