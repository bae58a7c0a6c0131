"""Judges pipelines by a JSON Schema: prints a list with null, or what is wrong, for each."""

import json
import sys

import jsonschema

asked = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(asked["schema"])
validator = jsonschema.Draft7Validator(asked["schema"])


def fault(pipeline):
    worst = jsonschema.exceptions.best_match(validator.iter_errors(pipeline))
    return None if worst is None else f"{worst.json_path}: {worst.message}"[:300]


print(json.dumps([fault(pipeline) for pipeline in asked["pipelines"]]))
