"""Checks requests and answers against GitHub's published OpenAPI description.

The description (npm package @octokit/openapi) is OpenAPI 3.0: JSON Schema of its own dialect, of
which `nullable` is translated here.
"""
import copy
import json
import re
import urllib.parse

import jsonschema


class Invalid(Exception):
    """A request or an answer that the description does not allow."""


class OpenApi:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.document = json.load(file)
        self.validators = {}
        self.routes = [(re.compile("^" + re.sub(r"\\{[^/]+?\\}", "[^/]+", re.escape(template)) + "$"),
                        operations) for template, operations in self.document["paths"].items()
                       if template.startswith(("/search/issues", "/repos/{owner}/{repo}/issues"))]

    def referenced(self, node):
        while "$ref" in node:
            target = self.document
            for part in node["$ref"].lstrip("#/").split("/"):
                target = target[part]
            node = target
        return node

    def example(self, name):
        return copy.deepcopy(self.document["components"]["examples"][name]["value"])

    def operation(self, method, path):
        for pattern, operations in self.routes:
            if pattern.match(path) and method.lower() in operations:
                return operations[method.lower()]
        raise Invalid(f"{method} {path} is no operation of the description")

    def check_request(self, method, target, body):
        """`body` is the parsed JSON, or None."""
        url = urllib.parse.urlsplit(target)
        operation = self.operation(method, url.path)
        known = {}
        for parameter in operation.get("parameters", []):
            parameter = self.referenced(parameter)
            if parameter["in"] == "query":
                known[parameter["name"]] = parameter
        given = urllib.parse.parse_qsl(url.query, keep_blank_values=True, strict_parsing=bool(url.query))
        for name, value in given:
            if name not in known:
                raise Invalid(f"{method} {url.path} has no parameter '{name}'")
            self.check_parameter(known[name], value)
        for name, parameter in known.items():
            if parameter.get("required") and name not in dict(given):
                raise Invalid(f"{method} {url.path} needs '{name}'")
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            self.check(schema, body, f"body of {method} {url.path}")
        elif body is not None:
            raise Invalid(f"{method} {url.path} takes no body")

    def check_parameter(self, parameter, value):
        schema = self.referenced(parameter["schema"])
        if schema.get("type") == "integer":
            value = int(value)
        if schema.get("format") == "date-time" and not re.fullmatch(
                r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value):
            raise Invalid(f"{parameter['name']}={value} is no time")
        self.check(schema, value, f"parameter {parameter['name']}")

    def check_answer(self, method, path, status, body):
        responses = self.operation(method, path)["responses"]
        if str(status) not in responses:
            raise Invalid(f"{method} {path} does not answer with {status}")
        content = self.referenced(responses[str(status)]).get("content", {})
        if "application/json" in content:
            self.check(content["application/json"]["schema"], body,
                       f"answer {status} of {method} {path}")

    def check(self, schema, value, what):
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            self.validators[key] = jsonschema.Draft7Validator(self.plain(schema))
        error = jsonschema.exceptions.best_match(self.validators[key].iter_errors(value))
        if error is not None:
            raise Invalid(f"{what}: /{'/'.join(map(str, error.absolute_path))}: "
                          f"{error.message[:300]}")

    def plain(self, node):
        """A schema without references and `nullable`."""
        if isinstance(node, list):
            return [self.plain(item) for item in node]
        if not isinstance(node, dict):
            return node
        node = self.referenced(node)
        result = {name: self.plain(value) if name not in ("enum", "example", "examples", "default")
                  else value for name, value in node.items()}
        if not result.pop("nullable", False) is True:
            return result
        return {"anyOf": [{"type": "null"}, result]}
