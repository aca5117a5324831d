"""Requests about customers."""

from __future__ import annotations

from collector.servers.resources_servers.environment import Call
from collector.servers.resources_servers.workplace.company import SELLERS
from collector.servers.resources_servers.workplace.requests import Draw, Kind, Slots
from collector.servers.resources_servers.workplace.state import (
    CUSTOMER_STATUSES,
    PRODUCTS,
    Customer,
    State,
)


def company_slot(draw: Draw) -> Slots:
    """Draw a customer by its name."""
    return {"company": draw.field(list(draw.state.customers.rows.values()), "name")}


def customer_named(state: State, name: str) -> Customer:
    """Return the one customer of that name."""
    (customer,) = [found for found in state.customers.rows.values() if found.name == name]
    return customer


def _change(state: State, slots: Slots, **values: str) -> list[Call]:
    customer = customer_named(state, slots["company"].value)
    return [Call("customer_update", {"customer_id": customer.id, **values})]


def _change_all(state: State, slots: Slots, **values: str) -> list[Call]:
    return [
        Call("customer_update", {"customer_id": customer.id, **values})
        for customer in _matching(state, slots)
    ]


def _matching(state: State, slots: Slots) -> list[Customer]:
    return [
        customer
        for customer in state.customers.rows.values()
        if customer.owner == slots["who"].value
        and ("status" not in slots or customer.status == slots["status"].value)
        and ("product" not in slots or customer.product == slots["product"].value)
    ]


def _add(_: State, slots: Slots) -> list[Call]:
    slot_of = {
        "name": "company",
        "email": "address",
        "owner": "who",
        "status": "status",
        "product": "product",
    }
    return [Call("customer_add", {name: slots[slot].value for name, slot in slot_of.items()})]


def _delete(state: State, slots: Slots) -> list[Call]:
    customer = customer_named(state, slots["company"].value)
    return [Call("customer_delete", {"customer_id": customer.id})]


def _delete_all(state: State, slots: Slots) -> list[Call]:
    return [Call("customer_delete", {"customer_id": found.id}) for found in _matching(state, slots)]


def _two(draw: Draw, names: tuple[str, str], values: tuple[str, ...]) -> Slots:
    return dict(zip(names, draw.two(values), strict=True))


def _two_sellers(draw: Draw) -> Slots:
    return dict(zip(("who", "to"), draw.two_people(SELLERS), strict=True))


CUSTOMER_KINDS = (
    Kind(
        "customers",
        (
            "Add {company} as a new customer: the address is {address}, the product is {product}, "
            "the status is {status} and {who} is the owner.",
            "Make {company} a customer of {who}, with the status {status}, the product {product} "
            "and the address {address}.",
        ),
        1,
        lambda draw: {
            **draw.new_company(),
            "who": draw.person(SELLERS),
            "status": draw.one(CUSTOMER_STATUSES),
            "product": draw.one(PRODUCTS),
        },
        _add,
    ),
    Kind(
        "customers",
        (
            "Change the status of the customer {company} to {goal}.",
            "Mark the customer {company} as {goal}.",
            "The customer {company} is now {goal}, so change its status.",
        ),
        1,
        lambda draw: {**company_slot(draw), "goal": draw.one(CUSTOMER_STATUSES)},
        lambda state, slots: _change(state, slots, status=slots["goal"].value),
    ),
    Kind(
        "customers",
        (
            "Switch the customer {company} to the product {goal}.",
            "The customer {company} wants the product {goal}, so change that.",
        ),
        1,
        lambda draw: {**company_slot(draw), "goal": draw.one(PRODUCTS)},
        lambda state, slots: _change(state, slots, product=slots["goal"].value),
    ),
    Kind(
        "customers",
        ("Delete the customer {company}.", "Take {company} off our list of customers."),
        1,
        company_slot,
        _delete,
    ),
    Kind(
        "customers",
        (
            "Make {who} the owner of the customer {company}.",
            "Hand the customer {company} over to {who}.",
        ),
        2,
        lambda draw: {**company_slot(draw), "who": draw.person(SELLERS)},
        lambda state, slots: _change(state, slots, owner=slots["who"].value),
    ),
    Kind(
        "customers",
        (
            "Mark all of {who}'s customers whose status is {status} as {goal}.",
            "Change the status of every customer of {who} with the status {status} to {goal}.",
        ),
        2,
        lambda draw: {
            "who": draw.person(SELLERS),
            **_two(draw, ("status", "goal"), CUSTOMER_STATUSES),
        },
        lambda state, slots: _change_all(state, slots, status=slots["goal"].value),
    ),
    Kind(
        "customers",
        (
            "Delete all of {who}'s customers whose status is {status}.",
            "Remove every customer of {who} with the status {status}.",
        ),
        2,
        lambda draw: {"who": draw.person(SELLERS), "status": draw.one(CUSTOMER_STATUSES)},
        _delete_all,
    ),
    Kind(
        "customers",
        (
            "Reassign every customer of {who} whose status is {status} to {to}.",
            "Give {to} all of {who}'s customers whose status is {status}.",
        ),
        3,
        lambda draw: {**_two_sellers(draw), "status": draw.one(CUSTOMER_STATUSES)},
        lambda state, slots: _change_all(state, slots, owner=slots["to"].value),
    ),
    Kind(
        "customers",
        (
            "Switch every customer of {who} whose product is {product} to the product {goal}.",
            "All of {who}'s customers with the product {product} now want {goal}, so change that.",
        ),
        2,
        lambda draw: {"who": draw.person(SELLERS), **_two(draw, ("product", "goal"), PRODUCTS)},
        lambda state, slots: _change_all(state, slots, product=slots["goal"].value),
    ),
)
