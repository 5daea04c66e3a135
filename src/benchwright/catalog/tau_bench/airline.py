"""tau-bench's airline domain: flights, reservations, users, and the agent's tools (envs/airline/tools).

The tools' results and the order of their checks are the same as in tau-bench, because both affect a model's
score.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
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

Flight = dict[str, Any]

AIRPORTS = {
    "SFO": "San Francisco",
    "JFK": "New York",
    "LAX": "Los Angeles",
    "ORD": "Chicago",
    "DFW": "Dallas",
    "DEN": "Denver",
    "SEA": "Seattle",
    "ATL": "Atlanta",
    "MIA": "Miami",
    "BOS": "Boston",
    "PHX": "Phoenix",
    "IAH": "Houston",
    "LAS": "Las Vegas",
    "MCO": "Orlando",
    "EWR": "Newark",
    "CLT": "Charlotte",
    "MSP": "Minneapolis",
    "DTW": "Detroit",
    "PHL": "Philadelphia",
    "LGA": "LaGuardia",
}

CURRENT_TIME = "2024-05-15T15:00:00"
NEW_RESERVATION_IDS = ("HATHAT", "HATHAU", "HATHAV")
NEW_CERTIFICATE_IDS = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
BAGGAGE_PRICE = 50
INSURANCE_PRICE = 30


def get_user_details(database: Database, /, user_id: str) -> str:
    """Return a user's profile."""
    if user_id not in database["users"]:
        raise ToolError("user not found")
    return json.dumps(database["users"][user_id])


def get_reservation_details(database: Database, /, reservation_id: str) -> str:
    """Return a reservation.

    If the reservation does not exist, the error message speaks of a user. This is tau-bench's own mistake.
    """
    if reservation_id not in database["reservations"]:
        raise ToolError("user not found")
    return json.dumps(database["reservations"][reservation_id])


def list_all_airports(database: Database, /) -> str:
    """Return all airports and their cities."""
    return json.dumps(AIRPORTS)


def search_direct_flight(database: Database, /, origin: str, destination: str, date: str) -> str:
    """Return the available flights from one airport to another on a date."""
    found = [
        _on_date(flight, date)
        for flight in all_records(database, "flights").values()
        if flight["origin"] == origin and flight["destination"] == destination and _flies(flight, date)
    ]
    return json.dumps(found)


def search_onestop_flight(database: Database, /, origin: str, destination: str, date: str) -> str:
    """Return the available pairs of flights with one stop.

    As in tau-bench, seats and prices of the second flight are those on the date of the first flight, even if
    the second flight leaves on the day after.
    """
    found = []
    for first, second in _connections(database, origin, destination):
        arrival = first["scheduled_arrival_time_est"]
        next_date = f"2024-05-{int(date[-2:]) + 1}" if "+1" in arrival else date
        in_time = arrival <= second["scheduled_departure_time_est"]
        if in_time and next_date in second["dates"] and _flies(first, date) and _flies(second, next_date):
            found.append(
                [_on_date(first, date) | {"date": date}, _on_date(second, date) | {"date": next_date}]
            )
    return json.dumps(found)


def book_reservation(
    database: Database,
    /,
    user_id: str,
    origin: str,
    destination: str,
    flight_type: str,
    cabin: str,
    flights: list[Flight],
    passengers: list[dict[str, Any]],
    payment_methods: list[dict[str, Any]],
    total_baggages: int,
    nonfree_baggages: int,
    insurance: str,
) -> str:
    """Book flights for a user and charge the payment methods."""
    if user_id not in database["users"]:
        raise ToolError("user not found")
    user = writable_record(database, "users", user_id)
    reservation_id = _first_free(NEW_RESERVATION_IDS, database["reservations"]) or NEW_RESERVATION_IDS[-1]
    reservation: dict[str, Any] = {
        "reservation_id": reservation_id,
        "user_id": user_id,
        "origin": origin,
        "destination": destination,
        "flight_type": flight_type,
        "cabin": cabin,
        "flights": deepcopy(flights),
        "passengers": deepcopy(passengers),
        "payment_history": deepcopy(payment_methods),
        "created_at": CURRENT_TIME,
        "total_baggages": total_baggages,
        "nonfree_baggages": nonfree_baggages,
        "insurance": insurance,
    }
    price = 0
    for flight in reservation["flights"]:
        _take_seats(database, flight, cabin, passengers)
        price += flight["price"] * len(passengers)
    if insurance == "yes":
        price += INSURANCE_PRICE * len(passengers)
    price += BAGGAGE_PRICE * nonfree_baggages
    _check_payments(user, payment_methods, price)
    _pay(user, payment_methods)
    database["reservations"][reservation_id] = reservation
    user["reservations"].append(reservation_id)
    return json.dumps(reservation)


def cancel_reservation(database: Database, /, reservation_id: str) -> str:
    """Cancel a whole reservation and record the refunds."""
    reservation = _reservation(database, reservation_id)
    refunds = [
        {"payment_id": payment["payment_id"], "amount": -payment["amount"]}
        for payment in reservation["payment_history"]
    ]
    reservation["payment_history"].extend(refunds)
    reservation["status"] = "cancelled"
    return json.dumps(reservation)


def update_reservation_flights(
    database: Database, /, reservation_id: str, cabin: str, flights: list[Flight], payment_id: str
) -> str:
    """Replace the flights of a reservation.

    The recorded cabin does not change, which is tau-bench's own mistake.
    """
    reservation = _reservation(database, reservation_id)
    passengers = reservation["passengers"]
    price = 0
    flights = deepcopy(flights)
    for flight in flights:
        kept = _kept_flight(reservation, flight, cabin)
        if kept is None:
            _take_seats(database, flight, cabin, passengers)
        else:
            flight |= {name: kept[name] for name in ("price", "origin", "destination")}
        price += flight["price"] * len(passengers)
    price -= sum(flight["price"] for flight in reservation["flights"]) * len(passengers)
    method = _payment_method(database, reservation, payment_id, price)
    if method["source"] == "gift_card":
        method["amount"] -= price
    reservation["flights"] = flights
    _note_payment(reservation, payment_id, price)
    return json.dumps(reservation)


def update_reservation_baggages(
    database: Database,
    /,
    reservation_id: str,
    total_baggages: int,
    nonfree_baggages: int,
    payment_id: str,
) -> str:
    """Set the numbers of bags of a reservation, and charge for additional bags that are not free."""
    reservation = _reservation(database, reservation_id)
    price = BAGGAGE_PRICE * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    method = _payment_method(database, reservation, payment_id, price)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    if method["source"] == "gift_card":
        method["amount"] -= price
    _note_payment(reservation, payment_id, price)
    return json.dumps(reservation)


def update_reservation_passengers(
    database: Database, /, reservation_id: str, passengers: list[dict[str, Any]]
) -> str:
    """Replace the passengers of a reservation by the same number of other passengers."""
    reservation = _reservation(database, reservation_id)
    if len(passengers) != len(reservation["passengers"]):
        raise ToolError("number of passengers does not match")
    reservation["passengers"] = deepcopy(passengers)
    return json.dumps(reservation)


def send_certificate(database: Database, /, user_id: str, amount: int) -> str:
    """Add a certificate to a user's payment methods. Do nothing if the user already has three."""
    if user_id not in database["users"]:
        raise ToolError("user not found")
    methods = writable_record(database, "users", user_id)["payment_methods"]
    payment_id = _first_free(NEW_CERTIFICATE_IDS, methods)
    if payment_id is None:
        return ""
    methods[payment_id] = {"source": "certificate", "amount": amount, "id": payment_id}
    return f"Certificate {payment_id} added to user {user_id} with amount {amount}."


def _flies(flight: Flight, date: str) -> bool:
    return date in flight["dates"] and flight["dates"][date]["status"] == "available"


def _on_date(flight: Flight, date: str) -> Flight:
    """Return a flight with its data for one date."""
    return {name: value for name, value in flight.items() if name != "dates"} | dict(flight["dates"][date])


def _connections(database: Database, origin: str, destination: str) -> Iterator[tuple[Flight, Flight]]:
    flights = list(all_records(database, "flights").values())
    arriving = [flight for flight in flights if flight["destination"] == destination]
    for first in flights:
        if first["origin"] == origin:
            for second in arriving:
                if first["destination"] == second["origin"]:
                    yield first, second


def _take_seats(database: Database, flight: Flight, cabin: str, passengers: list[Any]) -> None:
    """Check that there are enough seats, and add price and airports to the flight.

    As in tau-bench, the number of available seats is not reduced.
    """
    number = flight["flight_number"]
    if number not in database["flights"]:
        raise ToolError(f"flight {number} not found")
    known = database["flights"][number]
    if flight["date"] not in known["dates"]:
        raise ToolError(f"flight {number} not found on date {flight['date']}")
    that_day = known["dates"][flight["date"]]
    if that_day["status"] != "available":
        raise ToolError(f"flight {number} not available on date {flight['date']}")
    if that_day["available_seats"][cabin] < len(passengers):
        raise ToolError(f"not enough seats on flight {number}")
    flight["price"] = that_day["prices"][cabin]
    flight["origin"] = known["origin"]
    flight["destination"] = known["destination"]


def _kept_flight(reservation: dict[str, Any], flight: Flight, cabin: str) -> Flight | None:
    """Return the flight as already booked, with its price.

    Return None if the flight is not booked on this date in this cabin.
    """
    for booked in reservation["flights"]:
        if (
            booked["flight_number"] == flight["flight_number"]
            and booked["date"] == flight["date"]
            and cabin == reservation["cabin"]
        ):
            return dict(booked)
    return None


def _check_payments(user: dict[str, Any], payments: list[dict[str, Any]], price: Any) -> None:
    methods = user["payment_methods"]
    for payment in payments:
        payment_id, amount = payment["payment_id"], payment["amount"]
        if payment_id not in methods:
            raise ToolError(f"payment method {payment_id} not found")
        method = methods[payment_id]
        if method["source"] in ("gift_card", "certificate") and method["amount"] < amount:
            raise ToolError(f"not enough balance in payment method {payment_id}")
    paid = sum(payment["amount"] for payment in payments)
    if paid != price:
        raise ToolError(f"payment amount does not add up, total price is {price}, but paid {paid}")


def _pay(user: dict[str, Any], payments: list[dict[str, Any]]) -> None:
    """Deduct the payments from the user's gift cards.

    A certificate is removed when it is used, whatever the amount of the payment.
    """
    methods = user["payment_methods"]
    for payment in payments:
        payment_id = payment["payment_id"]
        if methods[payment_id]["source"] == "gift_card":
            methods[payment_id]["amount"] -= payment["amount"]
        elif methods[payment_id]["source"] == "certificate":
            del methods[payment_id]


def _reservation(database: Database, reservation_id: str) -> dict[str, Any]:
    if reservation_id not in database["reservations"]:
        raise ToolError("reservation not found")
    reservation: dict[str, Any] = writable_record(database, "reservations", reservation_id)
    return reservation


def _payment_method(
    database: Database, reservation: dict[str, Any], payment_id: str, price: Any
) -> dict[str, Any]:
    """Return a payment method of the reservation's user. Raise ToolError if it cannot pay `price`."""
    methods = writable_record(database, "users", reservation["user_id"])["payment_methods"]
    if payment_id not in methods:
        raise ToolError("payment method not found")
    method: dict[str, Any] = methods[payment_id]
    if method["source"] == "certificate":
        raise ToolError("certificate cannot be used to update reservation")
    if method["source"] == "gift_card" and method["amount"] < price:
        raise ToolError("gift card balance is not enough")
    return method


def _note_payment(reservation: dict[str, Any], payment_id: str, price: Any) -> None:
    if price != 0:
        reservation["payment_history"].append({"payment_id": payment_id, "amount": price})


def _first_free(names: tuple[str, ...], taken: Any) -> str | None:
    return next((name for name in names if name not in taken), None)


AIRLINE_DOMAIN = Domain(
    "airline",
    tables=("flights", "reservations", "users"),
    read_tools=tools_by_name(
        *(calculate, get_reservation_details, get_user_details, list_all_airports, search_direct_flight),
        *(search_onestop_flight, think, transfer_to_human_agents),
    ),
    write_tools=tools_by_name(
        *(book_reservation, cancel_reservation, send_certificate, update_reservation_baggages),
        *(update_reservation_flights, update_reservation_passengers),
    ),
)
