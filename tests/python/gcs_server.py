"""Google's storage as its client meets it over XML, which Google keeps like S3's: moto answers, and what a client of
Google sends as its authorisation, moto gets as one of S3's. Usage: gcs_server.py PORT"""

import sys

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple

S3 = "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=x"
moto = DomainDispatcherApplication(create_backend_app)


def answer(environ, start_response):
    environ["HTTP_AUTHORIZATION"] = S3
    return moto(environ, start_response)


run_simple("127.0.0.1", int(sys.argv[1]), answer, threaded=True)
