#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Holds each file of a folder to the published schema of its format, and what no schema says to the reader's
rules: what GitHub does with a line of a log, what a browser makes of the Markdown.

    formats.py DIR

The last line is "N passed, N failed"."""
import base64
import gzip
import hashlib
import html
import html.parser
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs"
SCHEMAS = HERE.parent / "schemas"
MOST_ANNOTATIONS = 10
MOST_SUMMARY = 1 << 20


def closed(schema):
    """The same schema, where a field that it does not name is an error: no field goes undocumented."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: closed(each) for key, each in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


OURS = {path.name: closed(json.loads(path.read_text())) for path in DOCS.glob("*.schema.json")}

try:
    import referencing
    import referencing.jsonschema

    REGISTRY = referencing.Registry().with_resources(
        (name, referencing.jsonschema.DRAFT202012.create_resource(schema)) for name, schema in OURS.items())

    def references(_schema, _base):
        return {"registry": REGISTRY}
except ImportError:  # jsonschema before 4.18
    STORE = {(DOCS / name).as_uri(): schema for name, schema in OURS.items()}

    def references(schema, base):
        return {"resolver": jsonschema.RefResolver(base_uri=base.as_uri(), referrer=schema, store=STORE)}


def validate(document, schema, base):
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    checker = jsonschema.FormatChecker()
    for error in kind(schema, **references(schema, base), format_checker=checker).iter_errors(document):
        yield f"{'/'.join(map(str, error.absolute_path)) or '(top)'}: {error.message[:200]}"


def published(path, name):
    schema = SCHEMAS / name
    return validate(json.loads(path.read_text()), json.loads(schema.read_text()), schema)


def ours(path):
    for line in path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]:
        document = json.loads(line)
        name = document["schema"].replace("/", "-") + ".schema.json"
        if name not in OURS:
            yield f"no docs/{name}"
            continue
        yield from validate(document, OURS[name], DOCS / name)


def sarif(path):
    yield from published(path, "sarif-2.1.0.json")
    for text in re.findall(r'"text":"((?:[^"\\]|\\.)*)"', path.read_text()):
        shown = json.loads(f'"{text}"')
        if re.search(r"(?<!\\)(?:\\\\)*\[", shown) or re.search(r"(?<!\{)(\{\{)*\{(?!\{)", shown):
            yield f"a link or placeholder in {shown!r}"


def gitlab(path):
    return published(path, "gitlab-code-quality.json")


def junit(path):
    done = subprocess.run(["xmllint", "--nonet", "--noout", "--schema", SCHEMAS / "junit-10.xsd", path],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        yield done.stderr[:500]


# The runner's own rule: a command is a line that starts so; properties end at "::".
COMMAND = re.compile(r"^::(error|notice) ((?:[a-z]+=[^,:]*)(?:,[a-z]+=[^,:]*)*)::([^\r\n]+)$")


def github(path):
    lines = path.read_bytes().decode("utf-8").split("\n")
    if lines.pop() != "":
        yield "the last line has no end"
    if len(lines) > MOST_ANNOTATIONS:
        yield f"{len(lines)} annotations"
    for line in lines:
        found = COMMAND.match(line)
        if not found:
            yield f"no annotation of ours: {line!r}"
            continue
        properties = [each.split("=", 1)[0] for each in found[2].split(",")]
        if properties not in (["title"], ["file", "line", "title"]):
            yield f"properties {properties}"
        if re.search("%(?!25|3A|2C)", line) or "%" in re.sub("%(25|3A|2C)", "", found[3]):
            yield f"an escape that is not ours: {line!r}"


class Page(html.parser.HTMLParser):
    """The tags of what a Markdown page becomes."""

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.wrong = {}, [], []

    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.open.append(tag)
        if tag not in ("h3", "p", "pre", "code", "details", "summary"):
            self.wrong.append(f"<{tag}>")
        if [name for name, _ in attributes if (tag, name) not in (("details", "open"), ("code", "class"))]:
            self.wrong.append(f"<{tag} {attributes}>")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")


def markdown(path):
    text = path.read_bytes()
    if len(text) > MOST_SUMMARY:
        yield f"{len(text)} bytes"
    rendered = subprocess.run(["cmark-gfm", "--unsafe", "-e", "autolink", "-e", "table", "-e", "strikethrough"],
                              input=text, capture_output=True, check=True).stdout.decode("utf-8")
    page = Page()
    page.feed(rendered)
    yield from page.wrong
    if page.open:
        yield f"never closed: {page.open}"
    if page.tags.get("h3") != 1 or page.tags.get("details", 0) != page.tags.get("summary", 0):
        yield f"tags: {page.tags}"


def text(path):
    for number, line in enumerate(path.read_bytes().decode("utf-8").split("\n"), 1):
        bad = [each for each in line if ord(each) < 32 or 127 <= ord(each) < 160 or each in "\u2028\u2029\u202e"]
        if bad:
            yield f"line {number}: {bad!r}"


def page(path):
    """Its policy allows its own script and style sheet by their hashes, and its data is JSON of ours."""
    content = path.read_text()
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', content)[1]
    parts = {"style": re.search("<style>(.*?)</style>", content, re.S)[1], "script": re.search("<script>(.*?)</script>", content, re.S)[1]}
    hashes = {kind: base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for kind, part in parts.items()}
    wanted = f"default-src 'none'; script-src 'sha256-{hashes['script']}'; style-src 'sha256-{hashes['style']}'; base-uri 'none'; form-action 'none'"
    if policy != wanted:
        yield f"the policy is {policy}, not {wanted}"
    if len(re.findall("<script", content)) != 2 or re.search("<(?:img|link|iframe|object|embed|a)\\b", content):
        yield "it has elements that it should not have"
    data = path.with_suffix(".html-data.json")
    data.write_bytes(gzip.decompress(base64.b64decode(re.search('<script id="data" type="text/plain">([^<]*)</script>', content)[1], validate=True)))
    yield from ours(data)
    if data.read_text() != path.with_name(path.name.replace("-html.html", "-json.json")).read_text():
        yield "its data is not what -o FILE.json writes"
    data.unlink()
    plain = path.with_suffix(".html-text.txt")
    plain.write_text(html.unescape(re.search("<noscript><pre>(.*?)</pre></noscript>", content, re.S)[1]))
    yield from text(plain)
    if plain.read_text() != path.with_name(path.name.replace("-html.html", "-text.txt")).read_text():
        yield "without scripts, it is not what -o FILE.txt writes"
    plain.unlink()


CHECKS = {".txt": text, ".html": page, ".json": ours, ".jsonl": ours, ".sarif": sarif, ".xml": junit, ".md": markdown}
BY_NAME = {"github": github, "gitlab": gitlab}


def check(path):
    kind = BY_NAME.get(path.name.rsplit("-", 1)[-1]) or CHECKS.get(path.suffix)
    if not kind:
        return ["a file of no known format"]
    try:
        return list(kind(path))
    except (ValueError, KeyError) as error:
        return [f"{type(error).__name__}: {error}"]


def main():
    failed = 0
    paths = sorted(pathlib.Path(sys.argv[1]).iterdir())
    for path in paths:
        wrong = check(path)
        if wrong:
            failed += 1
            print(f"FAIL  {path.name}", *[f"      {each}" for each in wrong[:8]], sep="\n")
    print(f"{len(paths) - failed} passed, {failed} failed")
    return failed > 0 or not paths


if __name__ == "__main__":
    sys.exit(main())
