"""The sentences that the policy understands."""

from __future__ import annotations

from collector.servers.responses_api_models.simulated_model.phrases import Rule, rule

SENTENCES = {
    "send": (
        "(?:send an email to|email) {to:person} with the subject {subject:quoted} and the body "
        "{body:quoted}",
        "(?:email|write to) {to:person}: the subject is {subject:quoted} and the body is "
        "{body:quoted}",
        "write to {to:person}, with {subject:quoted} as the subject and {body:quoted} as the body",
    ),
    "reply": (
        "reply to the email (?:with the subject )?{about:quoted} and say {body:quoted}",
        "(?:answer|reply to) the email {about:quoted} with {body:quoted}",
        "reply {body:quoted} to the email (?:titled )?{about:quoted}",
    ),
    "delete_email": (
        "(?:delete|remove) the email (?:with the subject )?{about:quoted}(?: from my mailbox)?",
        "i no longer need the email (?:titled )?{about:quoted}, so delete it",
    ),
    "forward": (
        "forward the email (?:with the subject )?{about:quoted} to {to:person}",
        "pass the email {about:quoted} on to {to:person}",
        "let {to:person} have a copy of the email {about:quoted}: forward it",
    ),
    "reply_to_latest": (
        "reply to the latest email from {sender:person} with {body:quoted}",
        "answer the last email that {sender:person} sent me with {body:quoted}",
    ),
    "delete_emails": (
        "(?:delete|remove) (?:all|every) emails? (?:from|that) {sender:person}(?: sent me)?",
        "i want nothing from {sender:person} in my inbox: delete all of it",
    ),
    "forward_emails": (
        "forward (?:every|all) emails? from {sender:person} to {to:person}",
        "pass all the emails that {sender:person} sent me on to {to:person}",
    ),
    "schedule": (
        "schedule a meeting called {title:quoted} with {who:person} {date:date} at {time:time} "
        "for {minutes:number} minutes",
        "put {title:quoted} with {who:person} in my calendar, {date:date} at {time:time}, "
        "{minutes:number} minutes long",
        "book {minutes:number} minutes with {who:person} {date:date} at {time:time} and call it "
        "{title:quoted}",
    ),
    "move_event": (
        "(?:move|reschedule) the meeting {event:quoted} to {date:date}(?: at|,) {time:time}",
        "shift the meeting {event:quoted}: it now starts {date:date} at {time:time}",
    ),
    "resize_event": (
        "make the meeting {event:quoted} {minutes:number} minutes long",
        "change the duration of the meeting {event:quoted} to {minutes:number} minutes",
    ),
    "cancel_event": (
        "(?:cancel|delete) the meeting {event:quoted}(?: from my calendar)?",
        "the meeting {event:quoted} is off, so take it out of my calendar",
    ),
    "cancel_next": (
        "cancel my next meeting with {who:person}",
        "call off the next meeting I have with {who:person}",
    ),
    "move_next": (
        "move my next meeting with {who:person} to {date:date} at {time:time}",
        "reschedule the next meeting I have with {who:person}: it should start {date:date} at "
        "{time:time}",
    ),
    "cancel_day": (
        "cancel all my meetings {date:date}",
        "i am away {date:date}, so cancel every meeting that day",
    ),
    "cancel_all": (
        "cancel every upcoming meeting with {who:person}",
        "call off all the meetings with {who:person} that are still to come",
    ),
    "resize_all": (
        "make every upcoming meeting with {who:person} {minutes:number} minutes long",
        "change the duration of all upcoming meetings with {who:person} to {minutes:number} "
        "minutes",
    ),
    "create_task": (
        "create a task {title:quoted} for {who:person} on the {board:word} board, due {date:date}, "
        "with the status {status:status}",
        "add {title:quoted} to the {board:word} board as a task for {who:person}; it is due "
        "{date:date} and its status is {status:status}",
    ),
    "set_status": (
        "change the status of the task {task:quoted} to {goal:status}",
        "(?:set|mark) the task {task:quoted} (?:to|as) {goal:status}",
    ),
    "set_due": (
        "move the due date of the task {task:quoted} to {date:date}",
        "the task {task:quoted} is now due {date:date}, so change its due date",
    ),
    "delete_task": (
        "delete the task {task:quoted}",
        "take the task {task:quoted} off its board for good",
    ),
    "assign_task": (
        "assign the task {task:quoted} to {who:person}",
        "let {who:person} take over the task {task:quoted}",
    ),
    "move_tasks": (
        "(?:move|set) all of {who:person}'s tasks that are {status:status} to {goal:status}",
        "(?:move|set) every task of {who:person} that is {status:status} to {goal:status}",
    ),
    "delete_tasks": (
        "(?:delete|remove) every task of {who:person} that is {status:status}",
        "(?:delete|remove) all of {who:person}'s tasks that are {status:status}",
    ),
    "reassign_tasks": (
        "reassign all of {who:person}'s tasks that are {status:status} to {to:person}",
        "hand every task of {who:person} that is {status:status} over to {to:person}",
    ),
    "postpone_tasks": (
        "set the due date of every task on the {board:word} board that is {status:status} to "
        "{date:date}",
        "all tasks on the {board:word} board that are {status:status} are now due {date:date}, so "
        "change their due dates",
    ),
    "add_customer": (
        "add {company:company} as a new customer: the address is {address:address}, the product "
        "is {product:word}, the status is {stage:stage} and {who:person} is the owner",
        "make {company:company} a customer of {who:person}, with the status {stage:stage}, the "
        "product {product:word} and the address {address:address}",
    ),
    "set_stage": (
        "change the status of the customer {company:company} to {goal:stage}",
        "mark the customer {company:company} as {goal:stage}",
        "the customer {company:company} is now {goal:stage}, so change its status",
    ),
    "set_product": (
        "switch the customer {company:company} to the product {goal:word}",
        "the customer {company:company} wants the product {goal:word}, so change that",
    ),
    "delete_customer": (
        "delete the customer {company:company}",
        "take {company:company} off our list of customers",
    ),
    "assign_customer": (
        "make {who:person} the owner of the customer {company:company}",
        "hand the customer {company:company} over to {who:person}",
    ),
    "move_customers": (
        "mark all of {who:person}'s customers whose status is {stage:stage} as {goal:stage}",
        "change the status of every customer of {who:person} with the status {stage:stage} to "
        "{goal:stage}",
    ),
    "delete_customers": (
        "(?:delete|remove) all of {who:person}'s customers whose status is {stage:stage}",
        "(?:delete|remove) every customer of {who:person} with the status {stage:stage}",
    ),
    "reassign_customers": (
        "reassign every customer of {who:person} whose status is {stage:stage} to {to:person}",
        "give {to:person} all of {who:person}'s customers whose status is {stage:stage}",
    ),
    "switch_customers": (
        "switch every customer of {who:person} whose product is {product:word} to the product "
        "{goal:word}",
        "all of {who:person}'s customers with the product {product:word} now want {goal:word}, so "
        "change that",
    ),
    "email_owner": (
        "email the owner of the customer {company:company} with the subject {subject:quoted} and "
        "the body {body:quoted}",
        "write to whoever owns the customer {company:company}: the subject is {subject:quoted} "
        "and the body is {body:quoted}",
    ),
    "email_assignee": (
        "send the person assigned to the task {task:quoted} an email with the subject "
        "{subject:quoted} and the body {body:quoted}",
        "write to whoever works on the task {task:quoted}: the subject is {subject:quoted} and "
        "the body is {body:quoted}",
    ),
    "meet_assignee": (
        "schedule a meeting called {title:quoted} with the person assigned to the task "
        "{task:quoted} {date:date} at {time:time} for {minutes:number} minutes",
        "book {minutes:number} minutes with whoever works on the task {task:quoted} {date:date} "
        "at {time:time} and call it {title:quoted}",
    ),
    "meet_owner": (
        "schedule a meeting called {title:quoted} with the owner of the customer "
        "{company:company} {date:date} at {time:time} for {minutes:number} minutes",
        "book {minutes:number} minutes with whoever owns the customer {company:company} "
        "{date:date} at {time:time} and call it {title:quoted}",
    ),
    "task_for_sender": (
        "create a task {title:quoted} for whoever sent me the email {about:quoted} on the "
        "{board:word} board, due {date:date}, with the status {status:status}",
        "the sender of the email {about:quoted} gets a new task {title:quoted} on the "
        "{board:word} board, due {date:date}, with the status {status:status}",
    ),
}
RULES: tuple[Rule, ...] = tuple(
    rule(kind, sentence) for kind, sentences in SENTENCES.items() for sentence in sentences
)
