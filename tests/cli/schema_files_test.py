"""Every shipped YAML file against the JSON Schema of its kind, as an editor checks it:
schema_files_test.py PROGRAM SOURCE_FOLDER."""
import copy
import json
import os
import re
import sys
import unittest

try:
    import jsonschema
    import yaml
except ImportError:  # another Python stands before Debian's, which has the packages
    if sys.executable == "/usr/bin/python3" or not os.path.exists("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.orig_argv[1:]])

from program import NIGHTLY, SOURCE, run

SCHEMAS = SOURCE / "configs/schema"
SHIPPED = sorted(path for folder in ("configs", "reports/targets", "sim/python/examples")
                 for path in (SOURCE / folder).rglob("*.yaml"))
WRITTEN = {"predictions_on_record"}  # by the program, which does not read it
PARTS = {"kernel": "scenario"}  # of the kind of file that may have one as its base
EVERY = 1 if NIGHTLY else 6  # of what is planted, as a file that is right takes as long as one that is not


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML 1.2 as editors read it: 'on' and 2026-01-01 are text, 1e3 is a number."""
    yaml_implicit_resolvers = {}


for tag, pattern, first in (
        ("bool", "true|false", "tf"), ("null", "null|~|", ["n", "~", ""]),
        ("int", "[-+]?[0-9]+", "-+0123456789"),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789")):
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"),
                                 list(first))
Loader.add_constructor("tag:yaml.org,2002:float",
                       lambda loader, node: float(loader.construct_scalar(node)))


def kind_of(document):
    return re.fullmatch(r"tiersim\.(\w+)/v1", document["schema"])[1]


def part(schema, kind):
    """The schema of a mapping whose base may be a file of the kind."""
    found = []

    def look(node):
        if isinstance(node, dict):
            if f"Its base has schema tiersim.{kind}/v1." in str(node.get("description")):
                found.append(node)
            for value in node.values():
                look(value)
        elif isinstance(node, list):
            for value in node:
                look(value)
    look(schema)
    return {**found[0], "$defs": schema.get("$defs", {})}


def places(node):
    """Every mapping and list below the node, itself included."""
    if isinstance(node, (dict, list)):
        yield node
        for value in node.values() if isinstance(node, dict) else node:
            yield from places(value)


def shape(node):
    """The keys of a value at every depth, and the types of its scalars; whole numbers are numbers."""
    if isinstance(node, dict):
        return tuple((key, shape(value)) for key, value in sorted(node.items()))
    if isinstance(node, list):
        return tuple(sorted({repr(shape(value)) for value in node}))
    return "float" if type(node) is int else type(node).__name__


def shortened(node):
    """A copy whose lists have the first three elements and the first of each further shape, and
    whose mappings have two of the mappings of each shape."""
    if isinstance(node, dict):
        like = {}  # mappings of one shape: named things, of which two are enough
        for key, value in node.items():
            like.setdefault(repr(shape(value)) if isinstance(value, dict) else key, []).append(key)
        kept = {key for keys in like.values() for key in keys[:2]}
        return {key: shortened(value) for key, value in node.items() if key in kept}
    if isinstance(node, list):
        firsts = {repr(shape(value)): index for index, value in reversed(list(enumerate(node)))}
        kept = sorted({*range(min(3, len(node))), *firsts.values()})
        return [shortened(node[index]) for index in kept]
    return copy.deepcopy(node)


class SchemaFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.documents = {path: yaml.load(path.read_text(), Loader) for path in SHIPPED}
        cls.documents = {path: document for path, document in cls.documents.items()
                         if kind_of(document) not in WRITTEN}
        cls.validators = {}
        for kind in sorted({kind_of(document) for document in cls.documents.values()}):
            shipped = SCHEMAS / f"{PARTS.get(kind, kind)}.schema.json"
            schema = json.loads(shipped.read_text() if shipped.exists() else
                                run("config", "schema", kind).stdout)
            if kind in PARTS:
                schema = part(schema, kind)
            cls.validators[kind] = jsonschema.Draft202012Validator(schema)

    def validator(self, document):
        return self.validators[kind_of(document)]

    def checked(self, document):
        """What the schema is of: a part has no line that names it."""
        if kind_of(document) not in PARTS:
            return document
        return {key: value for key, value in document.items() if key != "schema"}

    def largest(self):
        """The longest file of each kind with short lists, its mappings and lists open to change."""
        for kind in self.validators:
            files = [path for path, document in self.documents.items() if kind_of(document) == kind]
            path = max(files, key=lambda file: (file.stat().st_size, file))
            document = shortened(self.documents[path])
            self.assertTrue(self.validator(document).is_valid(self.checked(document)), path)
            yield path, self.validator(document), self.checked(document)

    def test_schemas_are_of_the_draft_that_they_name_and_complete(self):
        for at, path in enumerate(sorted(SCHEMAS.glob("*.json"))):
            with self.subTest(path.name):
                schema = json.loads(path.read_text())
                self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
                if at % EVERY == 0:
                    jsonschema.Draft202012Validator.check_schema(schema)
                named = {name.removeprefix("#/$defs/")
                         for name in re.findall(r'"\$ref": "([^"]*)"', path.read_text())}
                self.assertEqual(named, set(schema.get("$defs", {})))

    def test_every_shipped_file_holds(self):
        self.assertGreater(len(self.documents), 300)
        for path, document in self.documents.items():
            with self.subTest(path.relative_to(SOURCE)):
                errors = [f"{error.json_path}: {error.message[:300]}" for error in
                          self.validator(document).iter_errors(self.checked(document))]
                self.assertEqual(errors, [])

    def test_an_unknown_key_of_any_file_is_refused(self):
        for path, document in list(self.documents.items())[::EVERY]:
            with self.subTest(path.relative_to(SOURCE)):
                changed = {**self.checked(document), "no_such_key": 1}
                self.assertFalse(self.validator(document).is_valid(changed))

    def test_an_unknown_key_of_any_mapping_is_refused(self):
        for path, validator, document in self.largest():
            for place in [each for each in places(document) if isinstance(each, dict)][::EVERY]:
                with self.subTest(path.relative_to(SOURCE), keys=list(place)):
                    place["no_such_key"] = [[None]]
                    self.assertFalse(validator.is_valid(document))
                    del place["no_such_key"]

    def test_a_value_of_another_type_is_refused(self):
        for path, validator, document in self.largest():
            for place in list(places(document))[::EVERY]:
                for key, value in list(place.items() if isinstance(place, dict) else
                                       enumerate(place)):
                    with self.subTest(path.relative_to(SOURCE), key=key, value=str(value)[:80]):
                        place[key] = [[None]]
                        self.assertFalse(validator.is_valid(document))
                        place[key] = value

    def test_numbers_without_a_unit_and_units_of_others_are_refused(self):
        validator = self.validators["device"]
        device = {"schema": "tiersim.device/v1", "model": "dram", "capacity": "80 GB"}
        self.assertTrue(validator.is_valid(device))
        for wrong in (80, "80", "80 GB/s", {"value": "80 ns"}, {"value": "80 GB", "class": "sure"},
                      {"value": "80 GB", "ci95": ["70 GB"]}):
            self.assertFalse(validator.is_valid({**device, "capacity": wrong}), wrong)


if __name__ == "__main__":
    unittest.main(argv=["schema_files_test"])
