"""An agent that works sums out with a calculator instead of in its head.

    benchwright eval -m agent:CalculatorAgent -d arithmetic.jsonl \
        --eval-fn rewards:right_number --model MODEL --base-url URL
"""

from __future__ import annotations

import ast
import operator
import time
from typing import Any

from osmosis_ai.rollout import (
    OpenAIFunctionParametersSchema,
    OpenAIFunctionPropertySchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
    RolloutAgentLoop,
    RolloutContext,
    RolloutRequest,
    RolloutResult,
    ToolArgumentError,
    create_tool_error_result,
    create_tool_result,
    execute_tool_calls,
    get_tool_call_info,
    serialize_tool_result,
)

CALCULATOR = OpenAIFunctionToolSchema(
    type="function",
    function=OpenAIFunctionSchema(
        name="calculate",
        description="Works out an arithmetic expression and returns its value.",
        parameters=OpenAIFunctionParametersSchema(
            type="object",
            properties={
                "expression": OpenAIFunctionPropertySchema(
                    type="string",
                    description="Numbers, + - * / // % ** and parentheses, such as (2 + 3) * 4.",
                )
            },
            required=["expression"],
        ),
    ),
)


class CalculatorAgent(RolloutAgentLoop):
    """Asks the model, runs the calculations that it asks for, and goes on until it answers in words."""

    name = "calculator"

    def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
        return [CALCULATOR]

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        messages = list(ctx.request.messages)
        for _ in range(ctx.request.max_turns):
            answer = await ctx.chat(messages, **ctx.request.completion_params)
            messages.append(answer.message)
            if not answer.has_tool_calls:
                return ctx.complete(messages, finish_reason=answer.finish_reason)
            started = time.monotonic()
            results = await execute_tool_calls(answer.tool_calls, run_tool)
            elapsed_ms = (time.monotonic() - started) * 1000
            for result in results:
                ctx.record_tool_call(latency_ms=elapsed_ms / len(results))
                messages.append(result)
        return ctx.complete(messages, finish_reason="max_turns")


async def run_tool(tool_call: dict[str, Any]) -> dict[str, Any]:
    """Runs one tool call; what goes wrong is told to the model, which may try again."""
    try:
        call_id, name, arguments = get_tool_call_info(tool_call)
    except ToolArgumentError as error:
        return create_tool_error_result(error.tool_call_id, str(error))
    if name != CALCULATOR.function.name:
        return create_tool_error_result(call_id, f"there is no tool named {name!r}")
    try:
        return create_tool_result(call_id, serialize_tool_result(calculate(**arguments)))
    except (TypeError, ValueError, ArithmeticError) as error:
        return create_tool_error_result(call_id, str(error))


Number = int | float

OPERATIONS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
LARGEST = 1e100
LARGEST_EXPONENT = 100
LONGEST_EXPRESSION = 500


def calculate(expression: str) -> Number:
    """The value of an arithmetic expression; whatever else Python can do is refused.

    Raises:
        ValueError: it is not arithmetic, or the numbers get too large.
        ArithmeticError: it divides by zero.
    """
    expression = str(expression).strip()
    if len(expression) > LONGEST_EXPRESSION:
        raise ValueError(f"expressions have at most {LONGEST_EXPRESSION} characters")
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError:
        raise ValueError(f"not an arithmetic expression: {expression!r}") from None
    return value_of(tree.body)


def value_of(node: ast.expr) -> Number:
    """The value of one part of an expression."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            result = value
        case ast.UnaryOp(op=operation, operand=operand) if type(operation) in OPERATIONS:
            result = OPERATIONS[type(operation)](value_of(operand))
        case ast.BinOp(op=operation, left=left, right=right) if type(operation) in OPERATIONS:
            first, second = value_of(left), value_of(right)
            if isinstance(operation, ast.Pow) and abs(second) > LARGEST_EXPONENT:
                raise ValueError(f"exponents are at most {LARGEST_EXPONENT}")
            result = OPERATIONS[type(operation)](first, second)
        case _:
            raise ValueError(f"not arithmetic: {ast.unparse(node)}")
    if isinstance(result, complex) or abs(result) > LARGEST:
        raise ValueError("the result is not a number of ordinary size")
    return result
