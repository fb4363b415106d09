"""Whatever the OpenAPI page allows, and what it does not, is answered without a fault, and in the form it promises."""

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

CHECKS = [not_a_server_error, response_schema_conformance]


def test_no_request_is_a_fault_of_the_server(server):
    api = schemathesis.openapi.from_url(f"{server}/openapi.json")
    browser, job = session_with_an_answer(server)
    operations = [found.ok() for found in api.get_all_operations()]
    assert len(operations) >= 9
    for operation in operations:
        known = {"job": job} if "{job}" in operation.path else {}
        known |= {"number": 0} if "{number}" in operation.path else {}
        for mode in modes(operation):
            attack(operation.as_strategy(generation_mode=mode, path_parameters=known), browser)


def modes(operation) -> list[schemathesis.GenerationMode]:
    """As described, and otherwise; with a request that has no part to get wrong there is no otherwise."""
    right, wrong = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
    return [right, wrong] if operation.body or operation.query else [right]


def attack(cases, browser: requests.Session) -> None:
    @settings(
        max_examples=5,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def send(case):
        case.call_and_validate(session=browser, checks=CHECKS, timeout=120)

    send()


def session_with_an_answer(server: str) -> tuple[requests.Session, str]:
    browser = requests.Session()
    question = {"model": "mutagenicity", "input": {"smiles": "CN(C)N=O"}, "asked": {"prefer": "minimal"}}
    job = browser.post(f"{server}/api/jobs", json=question, timeout=60).json()
    while job["state"] in ("waiting", "running"):
        job = browser.get(f"{server}/api/jobs/{job['id']}", params={"wait": 5}, timeout=60).json()
    assert job["answers"], job
    return browser, job["id"]
