"""The pack: lists its scenarios, sends requests to the model, scores its answers and computes the total."""

from __future__ import annotations

from typing import Any

from benchwright_pack import chat_async, load_bench_pack_manifest
from scenarios import CATEGORIES, SCENARIOS

manifest = load_bench_pack_manifest(__file__)


def list_scenarios() -> list[dict[str, Any]]:
    """Return the scenarios as the host shows them."""
    return [
        {
            "id": scenario.id,
            "title": scenario.title,
            "category": scenario.category,
            "promptText": scenario.prompt,
            "detailCards": [
                {"title": "What this tests", "content": scenario.tests},
                {"title": "Success case", "content": scenario.success},
                {"title": "Failure case", "content": scenario.failure},
            ],
        }
        for scenario in SCENARIOS
    ]


def prepare(context: dict[str, Any]) -> Prepared:
    """Return the pack prepared for a run. Called once per run."""
    return Prepared()


class Prepared:
    """The pack during a run. Scenarios run concurrently."""

    async def run_scenario(self, input: dict[str, Any], emit: Any) -> dict[str, Any]:
        """Send one request to the model, score the answer, and return the result. The host handles a failed request."""
        scenario = next(found for found in SCENARIOS if found.id == input["scenario"]["id"])
        await emit(
            {
                "type": "model_progress",
                "modelId": input["model"]["id"],
                "scenarioId": scenario.id,
                "message": "Waiting for the answer.",
            }
        )
        response = await chat_async([{"role": "user", "content": scenario.prompt}])
        answer = (response["choices"][0]["message"].get("content") or "").strip()
        score = scenario.check(answer)
        return {
            "scenarioId": scenario.id,
            "status": "pass" if score == 100 else "partial" if score else "fail",
            "score": score,
            "summary": "Right." if score == 100 else "Right, in another form." if score else "Wrong.",
            "rawLog": f"[prompt] {scenario.prompt}\n[answer] {answer}\n[score] {score}",
            "output": {"finalAnswer": answer},
        }


def score_model_results(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a model's score: the weighted mean of the categories in which at least one scenario ran."""
    scores = {result["scenarioId"]: result.get("score") or 0 for result in results}
    categories, weighted, weights = [], 0.0, 0.0
    for category in CATEGORIES:
        ran = [
            scores[found.id] for found in SCENARIOS if found.category == category.id and found.id in scores
        ]
        score = sum(ran) / len(ran) if ran else 0.0
        categories.append({**category._asdict(), "score": score})
        if ran:
            weighted += score * category.weight
            weights += category.weight
    passed = sum(result["status"] == "pass" for result in results)
    return {
        "totalScore": weighted / weights if weights else 0.0,
        "categories": categories,
        "summary": f"{passed} of {len(results)} passed",
    }
