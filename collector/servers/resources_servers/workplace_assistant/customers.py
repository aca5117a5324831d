"""The tools on customers, with NeMo Gym's answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from collector.servers.resources_servers.workplace_assistant.records import (
    PAGE_SIZE,
    Function,
    RecordTools,
    TextFilter,
    choice_check,
    lower_addresses,
    paginate,
    quote_names,
    refuse_unless,
)
from collector.servers.resources_servers.workplace_assistant.tables import Record, WorkplaceState

STATUSES = ("Qualified", "Won", "Lost", "Lead", "Proposal")
PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")
CUSTOMER_FIELDS = (
    *("customer_name", "assigned_to_email", "customer_email", "customer_phone"),
    *("last_contact_date", "product_interest", "status", "notes", "follow_up_by"),
)
CUSTOMERS = RecordTools(
    "customer_relationship_manager_data",
    "Customer",
    "customer_id",
    fields=("customer_id", *CUSTOMER_FIELDS),
    no_update=f"Field not valid. Please choose from: {quote_names(CUSTOMER_FIELDS)}",
    checks={
        "status": choice_check(
            STATUSES, f"Status not valid. Please choose from: {quote_names(STATUSES)}"
        ),
        "product_interest": choice_check(
            PRODUCTS, f"Product interest not valid. Please choose from: {quote_names(PRODUCTS)}"
        ),
    },
)


def _search_customers(
    state: WorkplaceState, page: Any = 1, page_size: Any = PAGE_SIZE, **filters: Any
) -> Any:
    refuse_unless(
        any(filters.values()),
        "No search parameters provided. Please provide at least one parameter.",
    )
    meets = [_condition(name, value) for name, value in filters.items() if value]
    found = [
        customer
        for customer in CUSTOMERS.table(state).records
        if all(condition(customer) for condition in meets)
    ]
    return paginate("customers", found, page, page_size)


def _condition(name: str, value: Any) -> Callable[[Record], bool]:
    """Return whether a customer meets a filter, as a function of the customer."""
    limit = str(value)
    if name.endswith("_min"):
        field = name.removesuffix("_min")
        return lambda customer: str(customer[field] or "") >= limit
    if name.endswith("_max"):
        field = name.removesuffix("_max")
        return lambda customer: customer[field] is not None and str(customer[field]) <= limit
    text = TextFilter(value)
    return lambda customer: text.accepts(customer[name])


def _add_customer(state: WorkplaceState, **values: Any) -> Any:
    required = ("customer_name", "assigned_to_email", "status")
    refuse_unless(
        all(values.get(name) for name in required),
        f"Please provide all required fields: {', '.join(required)}.",
    )
    return CUSTOMERS.create(state, {"notes": "", **lower_addresses(values)})


CUSTOMER_TOOLS: dict[str, Function] = {
    "customer_relationship_manager_search_customers": _search_customers,
    "customer_relationship_manager_update_customer": CUSTOMERS.update,
    "customer_relationship_manager_add_customer": _add_customer,
    "customer_relationship_manager_delete_customer": CUSTOMERS.delete,
}
