#!/usr/bin/python3
"""The reports for people and other programs: valid, complete, and inert whatever tools printed."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import jsonschema
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import evidence
from evidence import Evidence, difffuzz
from rendered import Rendered

BUCKETS = 12


def setUpModule():
    global kept, scratch, page, junit, sarif, markdown, marked
    kept = Evidence(BUCKETS)
    marked = sorted(kept.path.glob("records/*/*/record.json"))[0]
    record = json.loads(marked.read_text())
    record["status"] = "known(K7)"
    marked.write_text(json.dumps(record))
    scratch = tempfile.TemporaryDirectory(prefix="difffuzz_reports_")
    page, junit, sarif, markdown = (pathlib.Path(scratch.name) / name for name in
                                    ("a.html", "a.xml", "a.sarif", "a.md"))
    code, out, err = difffuzz("report", kept.path, "--html", page, "--junit", junit, "--sarif",
                              sarif, "--markdown", markdown)
    if code != 0:
        raise RuntimeError(out + err)


def tearDownModule():
    scratch.cleanup()


class JUnit(unittest.TestCase):
    def validate(self, text):
        schema = evidence.SOURCE / "tests/data/junit.xsd"
        return subprocess.run(["xmllint", "--noout", "--schema", schema, "-"], input=text,
                              capture_output=True, check=False)

    def test_is_valid_and_the_schema_can_refuse(self):
        ended = self.validate(junit.read_bytes())
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertNotEqual(self.validate(junit.read_bytes().replace(b"classname", b"class")).returncode, 0)

    def test_counts_what_is_there(self):
        root = xml.etree.ElementTree.parse(junit).getroot()
        failures = root.findall(".//failure")
        self.assertEqual(len(failures), BUCKETS - 1)
        self.assertEqual(int(root.get("failures")), BUCKETS - 1)
        skipped = root.findall(".//skipped")
        self.assertEqual([one.get("message").split(":")[0] for one in skipped], ["known(K7)"])
        self.assertEqual(int(root.get("tests")), len(root.findall(".//testcase")))
        self.assertIn("@everyone", failures[0].text)
        self.assertIn("verdict", [case.get("name") for case in root.findall(".//testcase")])


class Sarif(unittest.TestCase):
    def test_is_valid_and_the_schema_can_refuse(self):
        schema = json.loads(evidence.published("sarif-2.1.0.json").read_text())
        validator = jsonschema.Draft7Validator(schema)
        log = json.loads(sarif.read_text())
        error = jsonschema.exceptions.best_match(validator.iter_errors(log))
        self.assertIsNone(error, error and f"{list(error.absolute_path)}: {error.message}")
        del log["runs"][0]["results"][0]["message"]
        self.assertTrue(list(validator.iter_errors(log)))

    def test_has_a_result_for_each_bucket(self):
        run = json.loads(sarif.read_text())["runs"][0]
        self.assertEqual(sorted(one["partialFingerprints"]["difffuzz/v1"] for one in run["results"]),
                         kept.fingerprints())
        rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        self.assertEqual({one["ruleId"] for one in run["results"]}, rules)
        self.assertEqual(sum("suppressions" in one for one in run["results"]), 1)
        for one in run["results"]:
            uri = one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            self.assertTrue((kept.path / uri).is_file())


class Markdown(unittest.TestCase):
    def test_is_inert_and_begins_with_the_verdict(self):
        text = markdown.read_text()
        self.assertTrue(text.startswith(f"## {BUCKETS} buckets of new divergences"))
        self.assertIn(f" {BUCKETS} buckets of new divergences, the last one at case ", text)
        rendered = Rendered(text)
        self.assertEqual(rendered.problems(), [])
        self.assertIn("@everyone", rendered.code)
        self.assertEqual(text.count("<details>"), BUCKETS)
        self.assertTrue(Rendered("<script>x</script> @x").problems())


class Html(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1200,900"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()

    def setUp(self):
        self.browser.get(page.as_uri())

    def tearDown(self):
        self.assertEqual(self.browser.get_log("browser"), [])

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def cards(self):
        return [card for card in self.all(".bucket") if card.is_displayed()]

    def open(self, card):
        card.find_element(By.TAG_NAME, "summary").click()
        # The browser says later that it is open, and only then is it filled.
        WebDriverWait(self.browser, 30).until(lambda _: "Commands" in card.text)

    def test_the_verdict_comes_first_then_all_buckets(self):
        first = self.one("body").text.splitlines()[0]
        self.assertTrue(first.startswith(f"{BUCKETS} buckets of new divergences"), first)
        self.assertEqual(self.one("#verdict").get_attribute("class"), "found")
        self.assertEqual(len(self.cards()), BUCKETS)
        self.assertIn("null (", self.one("#main").text)

    def test_filters(self):
        self.one("#search").send_keys("no such thing")
        self.assertEqual((len(self.cards()), self.one("#shown").text), (0, f"0 of {BUCKETS} buckets"))
        self.one("#search").clear()
        self.one("#search").send_keys(kept.fingerprints()[3])
        self.assertEqual(len(self.cards()), 1)
        self.browser.refresh()
        self.one("#status option[value='known(K7)']").click()
        self.assertEqual(len(self.cards()), 1)
        self.assertIn("known(K7)", self.cards()[0].text)

    def test_a_bucket_opens_with_commands_diff_and_script(self):
        card = self.cards()[0]
        self.open(card)
        text = card.text
        for words in ("Commands", "Outputs: - reference, + subject", "Script", "qemu-img"):
            self.assertIn(words, text)
        self.assertTrue(card.find_elements(By.CSS_SELECTOR, ".diff .add"))
        self.assertIn("<script>document.title='OWNED'</script>", text)
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        button = card.find_elements(By.CSS_SELECTOR, ".copy")[-1]
        button.click()
        WebDriverWait(self.browser, 30).until(lambda _: button.text == "copied")
        self.browser.set_script_timeout(10)
        copied = self.browser.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0], arguments[0])")
        self.assertTrue(copied.startswith("#!/usr/bin/env bash\n"), copied[:80])

    def test_what_tools_printed_stays_text(self):
        for card in self.cards():
            self.open(card)
        self.assertNotEqual(self.browser.title, "OWNED")
        self.assertEqual(len(self.all("h1, img, a, iframe, object, link")), 0)
        self.assertEqual(len(self.all("script")), 2)
        # The page asks the network for nothing, and its policy would not let it.
        self.assertEqual(self.browser.execute_script(
            "return performance.getEntriesByType('resource').map((one) => one.name)"), [])
        self.assertIn("default-src 'none'", page.read_text())

    def test_the_ledger_follows_the_operation(self):
        self.one("#ledger option[value='measure']").click()
        cells = self.all("#heat td[title]")
        self.assertTrue(cells)
        self.assertRegex(cells[0].get_attribute("title"), r" with .*: drawn \d+, compared \d+")
        before = len(cells)
        self.one("#ledger option[value='map']").click()
        self.assertNotEqual(len(self.all("#heat td[title]")), before)
        self.assertEqual(len(self.all(".plot path")), 3)

    def test_dark_and_narrow(self):
        background = "return getComputedStyle(document.body).backgroundColor"
        light = self.browser.execute_script(background)
        self.one("#theme").click()
        self.assertNotEqual(self.browser.execute_script(background), light)
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 360, "height": 700, "deviceScaleFactor": 2, "mobile": True})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), 360)


class Command(unittest.TestCase):
    def test_bad_places_are_sentences(self):
        for words, sentence in ((("--html", "/nowhere/x.html"), "/nowhere"),
                                (("--html", "/tmp/"), "is a directory")):
            code, out, err = difffuzz("report", kept.path, *words)
            self.assertEqual(code, 2, out + err)
            self.assertIn(sentence, err)
            self.assertEqual(err.count("\n"), 1)

    def test_an_unfinished_campaign_gets_no_report(self):
        with Evidence(BUCKETS) as copy, tempfile.TemporaryDirectory() as place:
            campaign = copy.path / "campaign.json"
            content = json.loads(campaign.read_text())
            content["state"] = "incomplete"
            campaign.write_text(json.dumps(content))
            target = pathlib.Path(place) / "a.html"
            code, out, _ = difffuzz("report", copy.path, "--html", target)
            self.assertEqual((code, target.exists()), (4, False), out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv, verbosity=1)
