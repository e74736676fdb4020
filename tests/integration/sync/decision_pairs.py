"""Forty pairs of a decision and the one that replaced it, with a question that both answer, in five formats."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Decision:
    """A decision: title, and one sentence of what was decided."""

    title: str
    text: str


@dataclass(frozen=True)
class Replaced:
    """A question, the decision that used to answer it, and the one that does."""

    question: str
    old: Decision
    new: Decision


def pair(question: str, old: str, new: str) -> Replaced:
    """Return a pair of decisions, each written as `title: sentence`."""
    before, after = (Decision(*(part.strip() for part in one.split(":", 1))) for one in (old, new))
    return Replaced(question, before, after)


PAIRS = (
    pair("Which database keeps our orders?",
         "Keep orders in MongoDB: Our orders are kept in one MongoDB database as documents.",
         "Move orders to PostgreSQL: Rows in PostgreSQL hold orders, because refunds need transactions."),
    pair("How do services call each other?",
         "Services call each other over REST: A service calls another service with JSON over HTTP.",
         "Publish changes as events: What has changed is announced on a log, and readers keep copies."),
    pair("How do we log in to internal tools?",
         "Log in to internal tools with LDAP passwords: Everyone logs in to internal tools with the LDAP password.",
         "Single sign-on by OpenID Connect: Employees are redirected to the identity provider with a hardware key."),
    pair("Which message queue do we run?",
         "Run RabbitMQ as message queue: We run one RabbitMQ cluster as the message queue for jobs.",
         "Jobs wait in a table: A table with SKIP LOCKED replaces the broker."),
    pair("Where are our images of containers built?",
         "Build container images on Jenkins: Images of containers are built by Jenkins agents.",
         "Image builds in hosted runners: Pipelines of the forge produce every artefact."),
    pair("What framework do we use for the web frontend?",
         "Use AngularJS for the web frontend: Our web frontend uses the AngularJS framework.",
         "Server-rendered pages: Templates on the server with small islands of script come instead."),
    pair("How long do we keep log files?",
         "Keep log files for one year: All log files are kept for one year on disk.",
         "Thirty days of logs: Retention is shortened to a month, for privacy."),
    pair("Which cache do we use for sessions?",
         "Cache sessions in Memcached: Sessions are cached in Memcached with a lifetime of an hour.",
         "Signed cookies carry sessions: State moves into the browser, so no cache is asked."),
    pair("How do mobile apps get their data from the API?",
         "Mobile apps use the SOAP API: Mobile apps get their data from the SOAP API.",
         "GraphQL gateway for phones: One endpoint answers what a screen needs."),
    pair("Who approves a release to production?",
         "A release board approves production releases: The board approves each release to production on Thursdays.",
         "Two reviewers and a green pipeline: Nobody signs off any more; checks decide."),
    pair("Which programming language do we write new services in?",
         "Write new services in Java: New services are written in the programming language Java 8.",
         "Go by default: Teams begin with Go unless a library forces another choice."),
    pair("How do we store passwords of customers?",
         "Store customer passwords with bcrypt: Passwords of customers are stored with bcrypt, cost 10.",
         "Argon2id for credentials: Secrets are hashed with Argon2id, 64 MiB."),
    pair("How do we name branches in git?",
         "Name git branches after tickets: Branches in git are named after the ticket, as in FEAT-12.",
         "Trunk only: Everyone commits behind flags; long-lived lines are gone."),
    pair("Where do we host our servers?",
         "Host servers in our own data centre: Our servers are hosted in the data centre in Graz.",
         "Rented machines at two providers: Workloads run at two clouds within the EU."),
    pair("How do we monitor the health of services?",
         "Monitor services with Nagios: The health of services is monitored by Nagios checks.",
         "Prometheus and alert rules: Metrics are scraped; people are paged by symptoms."),
    pair("Which time zone do timestamps have in the database?",
         "Timestamps in local time: The database stores timestamps in the local time zone.",
         "UTC everywhere: Instants are written with offset zero and shown by the viewer's settings."),
    pair("How do we encrypt backups?",
         "Encrypt backups with GPG: Backups are encrypted with one GPG key of the operators.",
         "age recipients per team: Archives are sealed for each team by age."),
    pair("What do we use to send e-mail to customers?",
         "Send customer e-mail through our Postfix: E-mail to customers is sent by our own Postfix server.",
         "Transactional mail by a provider: A provider delivers, with our domain's signatures."),
    pair("How do we version our public API?",
         "Version the public API in the path: The public API has its version in the path, such as /v2.",
         "Dated releases in a header: Clients pin a date, and changes are translated backwards."),
    pair("How do we write database migrations?",
         "Write database migrations by hand in SQL: Migrations of the database are SQL files written by hand.",
         "Generated, expand and contract: Schema steps come from models, each compatible with the release before."),
    pair("Which search engine powers the shop?",
         "Solr powers the shop search: The search engine of the shop is Solr.",
         "Search inside PostgreSQL: Full text indexes of the main store serve queries."),
    pair("How are feature flags stored?",
         "Store feature flags in a config file: Feature flags are stored in a YAML file of each service.",
         "Flags come from a control plane: A small service streams switches to processes."),
    pair("What is our policy for dependency updates?",
         "Update dependencies every quarter: Our policy is to update dependencies each quarter by hand.",
         "Bots propose bumps daily: Merge requests arrive every night and land when green."),
    pair("How do we do load balancing?",
         "Load balancing with HAProxy pairs: A pair of HAProxy machines does the load balancing.",
         "Anycast and Envoy: Routing is done at the edge by Envoy."),
    pair("Which format do we use for configuration?",
         "Use XML for configuration: The format of configuration files is XML.",
         "Typed TOML: Settings are declared in TOML and checked at start."),
    pair("How do we deploy machine learning models?",
         "Deploy machine learning models as pickles: Models of machine learning are deployed as Python pickles.",
         "ONNX artefacts behind one runtime: Networks are exported and served by a shared runtime."),
    pair("How are invoices numbered?",
         "Number invoices per year: Invoices are numbered from one in each year.",
         "Gapless series per legal entity: Each company has its own unbroken sequence."),
    pair("Which tool do we use for load tests?",
         "Use JMeter for load tests: The tool for load tests is JMeter.",
         "Scripts in k6: Scenarios live beside the code and run nightly."),
    pair("How do we handle personal data of deleted users?",
         "Anonymise deleted users: Personal data of deleted users is anonymised after 90 days.",
         "Erase at once with a receipt: Rows are removed the same day and a receipt is sent."),
    pair("What licence do our open source libraries have?",
         "Open source libraries under the GPL: Our open source libraries have the licence GPLv3.",
         "Apache 2.0 for what we publish: Published code permits reuse in closed products."),
    pair("How do teams share user interface components?",
         "Share user interface components as a git submodule: Components are shared between teams as a submodule.",
         "Versioned package with tokens: A registry carries the design system."),
    pair("How do we roll back a bad deployment?",
         "Roll back deployments by restoring a snapshot: A bad deployment is rolled back by restoring the snapshot.",
         "Blue and green: Traffic is switched to the idle half within a minute."),
    pair("Which editor settings do we share?",
         "Share Eclipse settings: Settings of the editor Eclipse are shared in the repository.",
         "A formatter decides: Style is enforced by tools in the pipeline, whatever one types in."),
    pair("How do we test payments?",
         "Test payments by hand: Payments are tested by hand before each release.",
         "Recorded provider sandbox: Contracts with the provider replay in every build."),
    pair("How many replicas does the main database have?",
         "One replica of the main database: The main database has one replica in the same room.",
         "Three copies in three zones: A quorum commits, so a zone may burn."),
    pair("How do we limit requests of clients?",
         "Limit requests by IP address: Requests of clients are limited by their IP address.",
         "Token buckets by key: Each credential has a budget that refills."),
    pair("Which documentation tool do we use?",
         "Write documentation in Confluence: The documentation tool is Confluence.",
         "Docs beside code: Markdown in the repository is published by the pipeline."),
    pair("How do we schedule nightly jobs?",
         "Schedule nightly jobs with cron on one host: Nightly jobs are scheduled by cron on the host batch1.",
         "Workflow engine with retries: Recurring work is declared as graphs."),
    pair("What do we use for tracing requests?",
         "Trace requests with Zipkin: Requests are traced by Zipkin libraries.",
         "OpenTelemetry spans: Instrumentation is vendor neutral and sampled at the tail."),
    pair("How do we translate the user interface?",
         "Translate the user interface in spreadsheets: Translations of the user interface are kept in spreadsheets.",
         "Gettext catalogues: Strings are extracted into catalogues and reviewed with the change."),
)  # fmt: skip


def front_matter(number: int, one: Decision, status: str, more: str = "") -> tuple[str, str]:
    """Return path and text of a decision with front matter."""
    head = f"id: ADR-{number:04}\ntitle: {one.title}\nstatus: {status}\n{more}"
    return f"adr/{number:04}-x.md", f"---\n{head}---\n\n{one.text}\n"


def nygard(number: int, one: Decision, status: str, more: str = "") -> tuple[str, str]:
    """Return path and text of a decision as Michael Nygard writes them."""
    text = (
        f"# {number}. {one.title}\n\n## Status\n\n{status}\n\n{more}\n## Context\n\n{one.text}\n\n## Decision\n\nSo.\n"
    )
    return f"adr/{number:04}-x.md", text


def madr(number: int, one: Decision, status: str, more: str = "") -> tuple[str, str]:
    """Return path and text of a decision with lines of metadata, as in MADR 2."""
    body = f"## Context and Problem Statement\n\n{one.text}\n\n## Decision Outcome\n\nChosen.\n{more}"
    return f"adr/{number:04}-x.md", f"# {one.title}\n\n* Status: {status}\n* Date: 2026-01-01\n\n{body}"


def header_lines(number: int, one: Decision, status: str, more: str = "") -> tuple[str, str]:
    """Return path and text of a proposal with header lines."""
    return f"rfcs/{number:04}.md", f"RFC: {number}\nTitle: {one.title}\nStatus: {status}\n{more}\n\n{one.text}\n"


def field_list(number: int, one: Decision, status: str, more: str = "") -> tuple[str, str]:
    """Return path and text of a reStructuredText with a list of fields."""
    line = "=" * len(one.title)
    return f"decisions/{number:04}.rst", f"{one.title}\n{line}\n\n:Status: {status}\n{more}\n\n{one.text}\n"


def files_of(position: int, one: Replaced) -> tuple[dict[str, str], str, str]:
    """Return the files of a pair, and the ids of the old and the new one. The new one may have the smaller number."""
    old, new = (2 * position + 1, 2 * position + 2) if position % 4 < 2 else (2 * position + 2, 2 * position + 1)
    kind = position % 5
    if kind == 0:
        files = [front_matter(old, one.old, "accepted"),
                 front_matter(new, one.new, "accepted", f"supersedes: ADR-{old:04}\n")]  # fmt: skip
    elif kind == 1:
        files = [nygard(old, one.old, f"Superseded by [{new}. x]({new:04}-x.md)"), nygard(new, one.new, "Accepted")]
    elif kind == 2:
        files = [madr(old, one.old, f"superseded by [ADR-{new:04}]({new:04}-x.md)"), madr(new, one.new, "accepted")]
    elif kind == 3:
        files = [header_lines(old, one.old, "Final"), header_lines(new, one.new, "Final", f"Replaces: {old}\n")]
    else:
        files = [field_list(old, one.old, "Deprecated", f":Superseded-By: {new:04}.rst\n"),
                 field_list(new, one.new, "Accepted")]  # fmt: skip
    name = {3: "RFC-{}"}.get(kind, "ADR-{:04}")
    return dict(files), name.format(old), name.format(new)
