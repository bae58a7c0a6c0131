"""Makes the container `models` of an Azurite on this machine: `azure_container.py PORT`."""

import base64
import email.utils
import hashlib
import hmac
import sys
import urllib.request

# The account that Azurite documents for everybody.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

url = f"http://127.0.0.1:{sys.argv[1]}/{ACCOUNT}/models?restype=container"
headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
canonical = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
# The account twice: once as the signature wants it, once of the path.
text = f"PUT{chr(10) * 12}{canonical}/{ACCOUNT}/{ACCOUNT}/models\nrestype:container"
signature = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
headers["Authorization"] = f"SharedKey {ACCOUNT}:{signature}"
request = urllib.request.Request(url, method="PUT", data=b"", headers={**headers, "Content-Type": ""})
with urllib.request.urlopen(request) as answer:
    assert answer.status == 201, answer.status
