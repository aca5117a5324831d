"""The tools around customers."""

from __future__ import annotations

import dataclasses
from typing import Any

from collector.servers.resources_servers.environment import Tool
from collector.servers.resources_servers.workplace.arguments import (
    Address,
    Text,
    WorkArguments,
    colleague,
    is_same,
    listed,
    mentions,
)
from collector.servers.resources_servers.workplace.state import (
    Customer,
    CustomerStatus,
    Product,
    State,
)

Row = dict[str, Any]


class SearchCustomers(WorkArguments):
    """Which customers to look for."""

    query: str | None = None
    owner: Address | None = None
    status: CustomerStatus | None = None
    product: Product | None = None


class AddCustomer(WorkArguments):
    """A new customer."""

    name: Text
    email: Address
    owner: Address
    status: CustomerStatus
    product: Product


class UpdateCustomer(WorkArguments):
    """What to change about a customer."""

    customer_id: str
    name: Text | None = None
    email: Address | None = None
    owner: Address | None = None
    status: CustomerStatus | None = None
    product: Product | None = None


class DeleteCustomer(WorkArguments):
    """A customer to delete."""

    customer_id: str


def search_customers(state: State, given: SearchCustomers) -> Row:
    """List customers by name."""
    found = [
        customer
        for customer in state.customers.rows.values()
        if mentions(given.query, customer.name, customer.email)
        and is_same(given.owner, customer.owner)
        and is_same(given.status, customer.status)
        and is_same(given.product, customer.product)
    ]
    return listed("customers", sorted(found, key=lambda customer: (customer.name, customer.id)))


def add_customer(state: State, given: AddCustomer) -> Row:
    """Add a customer."""
    colleague(given.owner)
    return dataclasses.asdict(state.customers.add(Customer(id="", **given.model_dump())))


def update_customer(state: State, given: UpdateCustomer) -> Row:
    """Change a customer."""
    colleague(given.owner)
    values = given.model_dump(exclude={"customer_id"})
    return dataclasses.asdict(state.customers.update(given.customer_id, values))


def delete_customer(state: State, given: DeleteCustomer) -> Row:
    """Delete a customer."""
    return {"deleted": state.customers.remove(given.customer_id).id}


CUSTOMER_TOOLS: tuple[Tool[State], ...] = (
    Tool(
        "customer_search",
        "Search customers, by name; null leaves a filter out. At most 20 results.",
        SearchCustomers,
        search_customers,
    ),
    Tool("customer_add", "Add a customer.", AddCustomer, add_customer),
    Tool(
        "customer_update", "Change a customer; null keeps a field.", UpdateCustomer, update_customer
    ),
    Tool("customer_delete", "Delete a customer.", DeleteCustomer, delete_customer),
)
