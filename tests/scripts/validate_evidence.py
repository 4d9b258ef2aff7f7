#!/usr/bin/python3
"""Validates plan.json, summary.json, manifest.json and every record.json of evidence directories against docs/.

Usage: validate_evidence.py DOCS EVIDENCE...   Prints the number of documents; exits with 1 when one
of them is invalid.
"""
import json
import pathlib
import sys

import jsonschema


def main() -> int:
    docs, evidence = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    schemas = {name: json.loads((docs / f"{name}.schema.json").read_text())
               for name in ("manifest", "plan", "recipe", "record", "summary")}
    store = {schema["$id"]: schema for schema in schemas.values()}
    validators = {}
    for name, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        resolver = jsonschema.RefResolver(schema["$id"], schema, store=store)
        validators[name] = jsonschema.Draft202012Validator(schema, resolver=resolver)
    # A validator that accepts everything would pass all below.
    if not list(validators["record"].iter_errors({"schema": "difffuzz.record/1"})):
        print("the validator accepts a record without its fields")
        return 1
    documents = []
    for directory in evidence:
        documents += [("plan", directory / "plan.json"), ("summary", directory / "summary.json")]
        documents += [("manifest", path) for path in directory.glob("manifest.json")]
        documents += [("record", path) for name in ("record.json", "original/first_seen.json")
                      for path in sorted(directory.glob(f"records/*/*/{name}"))]
    failed = False
    for name, path in documents:
        error = jsonschema.exceptions.best_match(
            validators[name].iter_errors(json.loads(path.read_text())))
        if error is not None:
            failed = True
            print(f"{path}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
    print(f"{len(documents)} documents")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
