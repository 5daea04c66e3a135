"""tau-bench's retail domain: orders, products, users, and the agent's tools (envs/retail/tools).

The tools' results and the order of their checks are the same as in tau-bench, because both affect a model's
score.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchwright.catalog.tau_bench.database import Database, all_records, writable_record
from benchwright.catalog.tau_bench.domain import (
    Domain,
    ToolError,
    calculate,
    think,
    tools_by_name,
    transfer_to_human_agents,
)

Order = dict[str, Any]

CANCEL_REASONS = ("no longer needed", "ordered by mistake")


def find_user_id_by_email(database: Database, /, email: str) -> str:
    """Return the id of the user with this email address."""
    for user_id, profile in all_records(database, "users").items():
        if profile["email"].lower() == email.lower():
            return user_id
    raise ToolError("user not found")


def find_user_id_by_name_zip(database: Database, /, first_name: str, last_name: str, zip: str) -> str:
    """Return the id of the user with this name and zip code."""
    for user_id, profile in all_records(database, "users").items():
        if (
            profile["name"]["first_name"].lower() == first_name.lower()
            and profile["name"]["last_name"].lower() == last_name.lower()
            and profile["address"]["zip"] == zip
        ):
            return user_id
    raise ToolError("user not found")


def get_user_details(database: Database, /, user_id: str) -> str:
    """Return a user's profile."""
    return _details(database, "users", user_id, "user not found")


def get_order_details(database: Database, /, order_id: str) -> str:
    """Return an order."""
    return _details(database, "orders", order_id, "order not found")


def get_product_details(database: Database, /, product_id: str) -> str:
    """Return a product with all its variants."""
    return _details(database, "products", product_id, "product not found")


def list_all_product_types(database: Database, /) -> str:
    """Return product ids by product name, in alphabetical order."""
    names = {product["name"]: product["product_id"] for product in all_records(database, "products").values()}
    return json.dumps(dict(sorted(names.items())))


def cancel_pending_order(database: Database, /, order_id: str, reason: str) -> str:
    """Cancel an order. Amounts paid by gift card are refunded to the card at once."""
    order = _order(database, order_id, "pending", "non-pending order cannot be cancelled")
    if reason not in CANCEL_REASONS:
        raise ToolError("invalid reason")
    refunds = []
    for payment in order["payment_history"]:
        payment_id, amount = payment["payment_method_id"], payment["amount"]
        refunds.append(_transaction("refund", amount, payment_id))
        if "gift_card" in payment_id:
            _add_to_balance(_methods(database, order)[payment_id], amount)
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    order["payment_history"].extend(refunds)
    return json.dumps(order)


def modify_pending_order_address(
    database: Database,
    /,
    order_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,
) -> str:
    """Replace the delivery address of an order."""
    order = _order(database, order_id, "pending", "non-pending order cannot be modified")
    order["address"] = _address(address1, address2, city, state, country, zip)
    return json.dumps(order)


def modify_pending_order_items(
    database: Database,
    /,
    order_id: str,
    item_ids: list[str],
    new_item_ids: list[str],
    payment_method_id: str,
) -> str:
    """Replace items of an order by other variants of the same products.

    The order cannot be modified again afterwards.
    """
    order = _order(database, order_id, "pending", "non-pending order cannot be modified")
    difference = _price_difference(database, order, item_ids, new_item_ids)
    method = _method(database, order, payment_method_id)
    if method["source"] == "gift_card" and method["balance"] < difference:
        raise ToolError("insufficient gift card balance to pay for the new item")
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_transaction(kind, abs(difference), payment_method_id))
    if method["source"] == "gift_card":
        _add_to_balance(method, -difference)
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
        item = _item(order, item_id)
        variant = database["products"][item["product_id"]]["variants"][new_item_id]
        item["item_id"] = new_item_id
        item["price"] = variant["price"]
        item["options"] = variant["options"]
    order["status"] = "pending (item modified)"
    return json.dumps(order)


def modify_pending_order_payment(database: Database, /, order_id: str, payment_method_id: str) -> str:
    """Replace the payment method of an order."""
    order = _order(database, order_id, "pending", "non-pending order cannot be modified")
    method = _method(database, order, payment_method_id)
    history = order["payment_history"]
    if len(history) > 1 or history[0]["transaction_type"] != "payment":
        raise ToolError("there should be exactly one payment for a pending order")
    amount, former_id = history[0]["amount"], history[0]["payment_method_id"]
    if former_id == payment_method_id:
        raise ToolError("the new payment method should be different from the current one")
    if method["source"] == "gift_card" and method["balance"] < amount:
        raise ToolError("insufficient gift card balance to pay for the order")
    history.append(_transaction("payment", amount, payment_method_id))
    history.append(_transaction("refund", amount, former_id))
    if method["source"] == "gift_card":
        _add_to_balance(method, -amount)
    if "gift_card" in former_id:
        _add_to_balance(_methods(database, order)[former_id], amount)
    return json.dumps(order)


def modify_user_address(
    database: Database,
    /,
    user_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,
) -> str:
    """Replace a user's default address."""
    if user_id not in database["users"]:
        raise ToolError("user not found")
    user = writable_record(database, "users", user_id)
    user["address"] = _address(address1, address2, city, state, country, zip)
    return json.dumps(user)


def return_delivered_order_items(
    database: Database, /, order_id: str, item_ids: list[str], payment_method_id: str
) -> str:
    """Request the return of items.

    The refund goes to the order's original payment method or to a gift card.
    """
    order = _order(database, order_id, "delivered", "non-delivered order cannot be returned")
    _method(database, order, payment_method_id)
    original = order["payment_history"][0]["payment_method_id"]
    if "gift_card" not in payment_method_id and payment_method_id != original:
        raise ToolError("payment method should be either the original payment method or a gift card")
    if _missing_item(order, item_ids) is not None:
        raise ToolError("some item not found")
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    return json.dumps(order)


def exchange_delivered_order_items(
    database: Database,
    /,
    order_id: str,
    item_ids: list[str],
    new_item_ids: list[str],
    payment_method_id: str,
) -> str:
    """Request the exchange of items for other variants of the same products."""
    order = _order(database, order_id, "delivered", "non-delivered order cannot be exchanged")
    difference = round(_price_difference(database, order, item_ids, new_item_ids), 2)
    method = _method(database, order, payment_method_id)
    if method["source"] == "gift_card" and method["balance"] < difference:
        raise ToolError("insufficient gift card balance to pay for the price difference")
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    return json.dumps(order)


def _details(database: Database, table: str, key: str, missing: str) -> str:
    if key not in database[table]:
        raise ToolError(missing)
    return json.dumps(database[table][key])


def _order(database: Database, order_id: str, status: str, otherwise: str) -> Order:
    """Return the trial's own copy of an order, which may be changed.

    Raises:
        ToolError: If the order is missing, or does not have the status. In the latter case, the text of the
            error is `otherwise`.
    """
    if order_id not in database["orders"]:
        raise ToolError("order not found")
    order: Order = writable_record(database, "orders", order_id)
    if order["status"] != status:
        raise ToolError(otherwise)
    return order


def _methods(database: Database, order: Order) -> dict[str, Any]:
    """Return the payment methods of the order's user."""
    methods: dict[str, Any] = writable_record(database, "users", order["user_id"])["payment_methods"]
    return methods


def _method(database: Database, order: Order, payment_method_id: str) -> dict[str, Any]:
    methods = _methods(database, order)
    if payment_method_id not in methods:
        raise ToolError("payment method not found")
    method: dict[str, Any] = methods[payment_method_id]
    return method


def _missing_item(order: Order, item_ids: Sequence[str]) -> str | None:
    """Return the first item that is requested more often than the order contains it.

    Return None if no item is requested too often.
    """
    ordered = [item["item_id"] for item in order["items"]]
    for item_id in item_ids:
        if item_ids.count(item_id) > ordered.count(item_id):
            return item_id
    return None


def _item(order: Order, item_id: str) -> dict[str, Any]:
    return next(item for item in order["items"] if item["item_id"] == item_id)


def _price_difference(
    database: Database, order: Order, item_ids: Sequence[str], new_item_ids: Sequence[str]
) -> Any:
    """Return the total price of the new items minus the total price of the old items."""
    missing = _missing_item(order, item_ids)
    if missing is not None:
        raise ToolError(f"{missing} not found")
    if len(item_ids) != len(new_item_ids):
        raise ToolError("the number of items to be exchanged should match")
    difference = 0
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
        item = _item(order, item_id)
        variants = database["products"][item["product_id"]]["variants"]
        if new_item_id not in variants or not variants[new_item_id]["available"]:
            raise ToolError(f"new item {new_item_id} not found or available")
        difference += variants[new_item_id]["price"] - item["price"]
    return difference


def _transaction(kind: str, amount: Any, payment_method_id: str) -> dict[str, Any]:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": payment_method_id}


def _add_to_balance(method: dict[str, Any], amount: Any) -> None:
    method["balance"] = round(method["balance"] + amount, 2)


def _address(
    address1: str, address2: str, city: str, state: str, country: str, zip_code: str
) -> dict[str, str]:
    return {
        "address1": address1,
        "address2": address2,
        "city": city,
        "state": state,
        "country": country,
        "zip": zip_code,
    }


RETAIL_DOMAIN = Domain(
    "retail",
    tables=("orders", "products", "users"),
    read_tools=tools_by_name(
        *(calculate, find_user_id_by_email, find_user_id_by_name_zip, get_order_details, get_product_details),
        *(get_user_details, list_all_product_types, think, transfer_to_human_agents),
    ),
    write_tools=tools_by_name(
        *(cancel_pending_order, exchange_delivered_order_items, modify_pending_order_address),
        *(modify_pending_order_items, modify_pending_order_payment, modify_user_address),
        *(return_delivered_order_items,),
    ),
)
