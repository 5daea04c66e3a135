"""The tools of both domains: what they answer, what they change, and tau-bench's own slips."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.tau_bench.tau_kit import CARD, GIFT_CARD, TABLES, world

from benchwright.catalog.tau_bench.database import Database, writable_record

MAY_20 = "2024-05-20"
ONE = [{"first_name": "Bo"}]


class Counter:
    """A domain's tools on a database of one's own."""

    def __init__(self, domain: str) -> None:
        self._world = world(domain)
        self.database: Database = self._world.new_database()

    def ask(self, tool: str, **arguments: Any) -> str:
        return self._world.domain.call(self.database, tool, arguments)

    def told(self, tool: str, **arguments: Any) -> Any:
        return json.loads(self.ask(tool, **arguments))


@pytest.fixture
def shop() -> Counter:
    return Counter("retail")


@pytest.fixture
def airline() -> Counter:
    return Counter("airline")


def flights(*numbers: str, date: str = MAY_20) -> list[dict[str, Any]]:
    return [{"flight_number": number, "date": date} for number in numbers]


def booking(**changed: Any) -> dict[str, Any]:
    """Bo books the 150-dollar flight, paid by card."""
    usual = {
        "user_id": "bo_2",
        "origin": "JFK",
        "destination": "SEA",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": flights("HAT1"),
        "passengers": ONE,
        "payment_methods": [{"payment_id": CARD, "amount": 150}],
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    return usual | changed


def swap(old: list[str], new: list[str], order: str = "#W1", method: str = CARD) -> dict[str, Any]:
    return {"order_id": order, "item_ids": old, "new_item_ids": new, "payment_method_id": method}


RETAIL_REFUSALS = [
    ("find_user_id_by_email", {"email": "no@example.com"}, "user not found"),
    ("find_user_id_by_name_zip", {"first_name": "Ana", "last_name": "Silva", "zip": "1"}, "user not found"),
    ("get_user_details", {"user_id": "x"}, "user not found"),
    ("get_order_details", {"order_id": "W1"}, "order not found"),
    ("get_product_details", {"product_id": "red"}, "product not found"),
    ("cancel_pending_order", {"order_id": "#W2", "reason": "x"}, "non-pending order cannot be cancelled"),
    ("cancel_pending_order", {"order_id": "#W1", "reason": "x"}, "invalid reason"),
    ("modify_pending_order_items", swap(["gold"], ["red"]), "gold not found"),
    ("modify_pending_order_items", swap(["red", "red"], ["blue"]), "red not found"),
    ("modify_pending_order_items", swap(["red"], []), "the number of items to be exchanged should match"),
    ("modify_pending_order_items", swap(["red"], ["grey"]), "new item grey not found or available"),
    ("modify_pending_order_items", swap(["red"], ["gold"], method="x"), "payment method not found"),
    (
        "modify_pending_order_items",
        swap(["red"], ["gold"], method=GIFT_CARD),
        "insufficient gift card balance to pay for the new item",
    ),
    ("modify_pending_order_items", swap(["red"], ["blue"], "#W2"), "non-pending order cannot be modified"),
    (
        "modify_pending_order_payment",
        {"order_id": "#W1", "payment_method_id": GIFT_CARD},
        "the new payment method should be different from the current one",
    ),
    ("exchange_delivered_order_items", swap(["red"], ["blue"]), "non-delivered order cannot be exchanged"),
    (
        "exchange_delivered_order_items",
        swap(["red"], ["gold"], "#W2", GIFT_CARD),
        "insufficient gift card balance to pay for the price difference",
    ),
    (
        "return_delivered_order_items",
        {"order_id": "#W1", "item_ids": ["red"], "payment_method_id": CARD},
        "non-delivered order cannot be returned",
    ),
    (
        "return_delivered_order_items",
        {"order_id": "#W2", "item_ids": ["blue"], "payment_method_id": CARD},
        "some item not found",
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "why"), RETAIL_REFUSALS)
def test_the_shop_refuses_in_tau_benchs_words_and_changes_nothing(
    shop: Counter, tool: str, arguments: dict[str, Any], why: str
) -> None:
    assert shop.ask(tool, **arguments) == f"Error: {why}"
    assert {name: dict(table) for name, table in shop.database.items()} == TABLES["retail"]


def test_a_user_is_found_by_email_and_by_name_in_any_case(shop: Counter) -> None:
    assert shop.ask("find_user_id_by_email", email="ANA@example.com") == "ana_1"
    assert shop.ask("find_user_id_by_name_zip", first_name="ana", last_name="SILVA", zip="10001") == "ana_1"


def test_a_moved_user_is_found_by_the_new_zip_code(shop: Counter) -> None:
    address = {"address1": "2 Lane", "address2": "", "city": "Reno", "state": "NV", "country": "USA"}
    shop.ask("modify_user_address", user_id="ana_1", zip="89501", **address)
    named = {"first_name": "Ana", "last_name": "Silva"}
    assert shop.ask("find_user_id_by_name_zip", zip="89501", **named) == "ana_1"
    assert shop.ask("find_user_id_by_name_zip", zip="10001", **named) == "Error: user not found"


def test_product_types_come_by_name(shop: Counter) -> None:
    assert shop.told("list_all_product_types") == {"Mug": "p1"}


def test_a_cancelled_order_is_paid_back_to_the_gift_card_at_once(shop: Counter) -> None:
    order = shop.told("cancel_pending_order", order_id="#W1", reason="no longer needed")
    assert (order["status"], order["cancel_reason"]) == ("cancelled", "no longer needed")
    assert order["payment_history"][-1]["transaction_type"] == "refund"
    assert shop.database["users"]["ana_1"]["payment_methods"][GIFT_CARD]["balance"] == 42.5


def test_modified_items_take_price_and_options_of_the_new_ones(shop: Counter) -> None:
    order = shop.told("modify_pending_order_items", **swap(["red"], ["blue"], method=GIFT_CARD))
    assert [item["item_id"] for item in order["items"]] == ["blue", "blue"]
    assert order["items"][0]["options"] == {"c": "b"}
    assert order["status"] == "pending (item modified)"
    assert order["payment_history"][-1] == {
        "transaction_type": "payment",
        "amount": 2.5,
        "payment_method_id": GIFT_CARD,
    }
    assert shop.database["users"]["ana_1"]["payment_methods"][GIFT_CARD]["balance"] == 17.5


def test_items_are_modified_once(shop: Counter) -> None:
    shop.ask("modify_pending_order_items", **swap(["red"], ["blue"]))
    again = shop.ask("modify_pending_order_items", **swap(["blue"], ["red"]))
    assert again == "Error: non-pending order cannot be modified"


def test_another_payment_method_pays_and_the_former_one_is_paid_back(shop: Counter) -> None:
    order = shop.told("modify_pending_order_payment", order_id="#W1", payment_method_id=CARD)
    paid = [(entry["transaction_type"], entry["payment_method_id"]) for entry in order["payment_history"]]
    assert paid == [("payment", GIFT_CARD), ("payment", CARD), ("refund", GIFT_CARD)]
    assert shop.database["users"]["ana_1"]["payment_methods"][GIFT_CARD]["balance"] == 42.5
    again = shop.ask("modify_pending_order_payment", order_id="#W1", payment_method_id=GIFT_CARD)
    assert again == "Error: there should be exactly one payment for a pending order"


def test_an_exchange_is_noted_with_its_price_difference(shop: Counter) -> None:
    order = shop.told("exchange_delivered_order_items", **swap(["red"], ["blue"], "#W2"))
    assert (order["status"], order["exchange_price_difference"]) == ("exchange requested", 2.5)
    assert (order["exchange_items"], order["exchange_new_items"]) == (["red"], ["blue"])


def test_a_return_goes_to_the_original_payment_or_a_gift_card(shop: Counter) -> None:
    writable_record(shop.database, "users", "ana_1")["payment_methods"]["paypal_3"] = {"source": "paypal"}
    asked = {"order_id": "#W2", "item_ids": ["red"]}
    refused = shop.ask("return_delivered_order_items", payment_method_id="paypal_3", **asked)
    assert refused == ("Error: payment method should be either the original payment method or a gift card")
    order = shop.told("return_delivered_order_items", payment_method_id=GIFT_CARD, **asked)
    assert (order["status"], order["return_items"]) == ("return requested", ["red"])


AIRLINE_REFUSALS = [
    ("get_user_details", {"user_id": "x"}, "user not found"),
    ("get_reservation_details", {"reservation_id": "x"}, "user not found"),
    ("cancel_reservation", {"reservation_id": "x"}, "reservation not found"),
    ("send_certificate", {"user_id": "x", "amount": 1}, "user not found"),
    ("book_reservation", booking(user_id="x"), "user not found"),
    ("book_reservation", booking(flights=flights("HAT9")), "flight HAT9 not found"),
    (
        "book_reservation",
        booking(flights=flights("HAT1", date="2024-05-22")),
        "flight HAT1 not found on date 2024-05-22",
    ),
    ("book_reservation", booking(flights=flights("HAT5")), f"flight HAT5 not available on date {MAY_20}"),
    (
        "book_reservation",
        booking(flights=flights("HAT1", date="2024-05-21")),
        "not enough seats on flight HAT1",
    ),
    (
        "book_reservation",
        booking(payment_methods=[{"payment_id": "x", "amount": 150}]),
        "payment method x not found",
    ),
    (
        "book_reservation",
        booking(payment_methods=[{"payment_id": GIFT_CARD, "amount": 150}]),
        f"not enough balance in payment method {GIFT_CARD}",
    ),
    (
        "book_reservation",
        booking(nonfree_baggages=1, insurance="yes"),
        "payment amount does not add up, total price is 230, but paid 150",
    ),
    ("book_reservation", booking(cabin="first"), "'first'"),
    (
        "update_reservation_passengers",
        {"reservation_id": "R1", "passengers": []},
        "number of passengers does not match",
    ),
    (
        "update_reservation_baggages",
        {"reservation_id": "R1", "total_baggages": 2, "nonfree_baggages": 2, "payment_id": GIFT_CARD},
        "gift card balance is not enough",
    ),
    (
        "update_reservation_flights",
        {
            "reservation_id": "R1",
            "cabin": "economy",
            "flights": flights("HAT1"),
            "payment_id": "certificate_3",
        },
        "certificate cannot be used to update reservation",
    ),
    (
        "cancel_reservation",
        {},
        "CancelReservation.invoke() missing 1 required positional argument: 'reservation_id'",
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "why"), AIRLINE_REFUSALS)
def test_the_airline_refuses_in_tau_benchs_words_and_changes_nothing(
    airline: Counter, tool: str, arguments: dict[str, Any], why: str
) -> None:
    assert airline.ask(tool, **arguments) == f"Error: {why}"
    assert {name: dict(table) for name, table in airline.database.items()} == TABLES["airline"]


def test_direct_flights_come_with_the_day_they_were_asked_for(airline: Counter) -> None:
    (found,) = airline.told("search_direct_flight", origin="JFK", destination="SEA", date=MAY_20)
    assert (found["flight_number"], found["prices"]["economy"]) == ("HAT1", 150)
    assert "dates" not in found


def test_flights_that_do_not_fly_are_not_found(airline: Counter) -> None:
    assert airline.told("search_direct_flight", origin="SEA", destination="JFK", date=MAY_20) == []


def test_the_second_flight_of_the_day_after_is_shown_with_the_first_days_prices(airline: Counter) -> None:
    """HAT4 lands on the 21st; tau-bench then shows HAT3 of the 21st with the prices of the 20th."""
    found = airline.told("search_onestop_flight", origin="JFK", destination="SEA", date=MAY_20)
    shown = [(one["flight_number"], two["date"], two["prices"]["basic_economy"]) for one, two in found]
    assert shown == [("HAT2", "2024-05-20", 50), ("HAT4", "2024-05-21", 50)]


def test_a_date_that_is_none_is_told_as_python_does(airline: Counter) -> None:
    told = airline.ask("search_onestop_flight", origin="JFK", destination="SEA", date="May")
    assert told == "Error: invalid literal for int() with base 10: 'ay'"


def test_a_booking_uses_up_certificates_and_charges_gift_cards(airline: Counter) -> None:
    payments = [
        {"payment_id": "certificate_3", "amount": 90},
        {"payment_id": GIFT_CARD, "amount": 60},
    ]
    booked = airline.told("book_reservation", **booking(payment_methods=payments))
    assert (booked["reservation_id"], booked["created_at"]) == ("HATHAT", "2024-05-15T15:00:00")
    assert booked["flights"][0]["price"] == 150
    user = airline.database["users"]["bo_2"]
    assert set(user["payment_methods"]) == {CARD, GIFT_CARD}
    assert user["payment_methods"][GIFT_CARD]["amount"] == 0
    assert user["reservations"] == ["R1", "HATHAT"]


def test_bookings_take_the_next_free_name(airline: Counter) -> None:
    names = [airline.told("book_reservation", **booking())["reservation_id"] for _ in range(4)]
    assert names == ["HATHAT", "HATHAU", "HATHAV", "HATHAV"]


def test_a_cancelled_reservation_notes_its_refunds(airline: Counter) -> None:
    cancelled = airline.told("cancel_reservation", reservation_id="R1")
    assert cancelled["status"] == "cancelled"
    assert [payment["amount"] for payment in cancelled["payment_history"]] == [120, -120]


def test_a_kept_flight_keeps_its_price_and_a_new_one_costs_todays(airline: Counter) -> None:
    changed = airline.told(
        "update_reservation_flights",
        reservation_id="R1",
        cabin="economy",
        flights=flights("HAT1", "HAT2"),
        payment_id=CARD,
    )
    assert [flight["price"] for flight in changed["flights"]] == [120, 90]
    assert changed["payment_history"][-1] == {"payment_id": CARD, "amount": 90}


def test_another_cabin_is_paid_but_not_written_down(airline: Counter) -> None:
    """tau-bench's own slip: the record keeps its cabin (mended in its successor, tau2-bench)."""
    changed = airline.told(
        "update_reservation_flights",
        reservation_id="R1",
        cabin="business",
        flights=flights("HAT1"),
        payment_id=CARD,
    )
    assert changed["cabin"] == "economy"
    assert changed["payment_history"][-1]["amount"] == 300 - 120


def test_further_bags_are_charged(airline: Counter) -> None:
    changed = airline.told(
        "update_reservation_baggages",
        reservation_id="R1",
        total_baggages=2,
        nonfree_baggages=1,
        payment_id=GIFT_CARD,
    )
    assert changed["total_baggages"] == 2
    assert airline.database["users"]["bo_2"]["payment_methods"][GIFT_CARD]["amount"] == 10


def test_three_certificates_can_be_sent(airline: Counter) -> None:
    told = [airline.ask("send_certificate", user_id="bo_2", amount=50) for _ in range(4)]
    assert told[0] == "Certificate certificate_3221322 added to user bo_2 with amount 50."
    assert told[3] == ""


def test_passengers_are_replaced_by_as_many(airline: Counter) -> None:
    changed = airline.told(
        "update_reservation_passengers", reservation_id="R1", passengers=[{"first_name": "Cy"}]
    )
    assert changed["passengers"] == [{"first_name": "Cy"}]


def test_airports_come_with_their_cities(airline: Counter) -> None:
    airports = airline.told("list_all_airports")
    assert (len(airports), airports["EWR"]) == (20, "Newark")


def test_what_one_trial_writes_another_does_not_see() -> None:
    first, second = Counter("airline"), Counter("airline")
    first.ask("cancel_reservation", reservation_id="R1")
    first.ask("book_reservation", **booking())
    assert "status" not in second.told("get_reservation_details", reservation_id="R1")
    assert second.told("get_user_details", user_id="bo_2")["reservations"] == ["R1"]


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("152 + 103", "255.0"),
        (" (1 + 2) * 3.456", "10.37"),
        ("2 ** 3 // 5", "1.0"),
        ("1/0", "Error: division by zero"),
        ("$5", "Error: invalid characters in expression"),
        ("2(3)", "Error: 'int' object is not callable"),
        ("()", "Error: float() argument must be a string or a real number, not 'tuple'"),
        ("9**9**9**9", "Error: int too large to convert to float"),
        ("1+" * 9000 + "1", "Error: the expression is too long"),
    ],
)
def test_sums(shop: Counter, expression: str, told: str) -> None:
    assert shop.ask("calculate", expression=expression) == told


def test_a_sum_that_is_none_is_told_as_python_does(shop: Counter) -> None:
    assert shop.ask("calculate", expression="2 +") == "Error: invalid syntax (<string>, line 1)"


NUMBERS = st.integers(0, 10_000).map(str) | st.decimals(0, 1000, places=2).map(str)
SUMS = st.recursive(
    NUMBERS,
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=8,
)


@given(SUMS)
def test_sums_are_as_python_does_them(expression: str) -> None:
    try:
        right = str(round(float(eval(expression)), 2))
    except ZeroDivisionError as error:
        right = f"Error: {error}"
    assert Counter("retail").ask("calculate", expression=expression) == right


NAMES = (
    *("order_id", "user_id", "reservation_id", "item_ids", "new_item_ids", "payment_method_id", "reason"),
    *("payment_id", "flights", "passengers", "cabin", "amount", "total_baggages", "nonfree_baggages"),
)
WORDS = ("#W1", "#W2", "R1", "ana_1", "bo_2", CARD, GIFT_CARD, "no longer needed", "economy")
OTHERS: list[Any] = [["red"], ["blue"], ["red", "blue"], flights("HAT1"), ONE, [], {}, None, 1, 2.5]
ARGUMENTS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(WORDS) | st.sampled_from(OTHERS))


@given(
    st.lists(st.tuples(st.integers(0, 20), ARGUMENTS), max_size=12), st.sampled_from(["airline", "retail"])
)
def test_no_call_fails_otherwise_than_in_words_or_touches_the_shared_tables(
    calls: list[tuple[int, dict[str, Any]]], domain: str
) -> None:
    before = json.dumps(TABLES[domain])
    counter = Counter(domain)
    tools = [*world(domain).domain.write_tools, *world(domain).domain.read_tools]
    for number, arguments in calls:
        assert isinstance(counter.ask(tools[number % len(tools)], **arguments), str)
    assert json.dumps(TABLES[domain]) == before
