"""What the audit records: the tables of the hub that it needs to know, by names of routes, models and commands."""

# Objects of settings, of which an entry keeps what changed.
MODELS: tuple[str, ...] = (
    "accounts.Account",
    "accounts.Invitation",
    "auth.Group",
    "auth.User",
    "core.ApiKey",
    "django_q.Schedule",
    "episodic.RetentionPolicy",
    "llm.Price",
    "rules.MergeRule",
    "semantic.RoutingPolicy",
    "sync.KnowledgeSource",
)

# Reading that is recorded: downloads of what the hub knows of people, and pages that show a person whole.
READS: frozenset[str] = frozenset(
    {"export", "cockpit_audit_csv", "cockpit_person", "cockpit_person_export", "webui:privacy_file"}
)

# Requests that change nothing although their method could.
QUIET: frozenset[str] = frozenset(
    {
        "admin:jsi18n",
        "admin:rules_mergerule_preview",
        "admin:rules_mergerule_preview_new",
        "admin:rules_mergerule_try_new",
        "admin:rules_mergerule_try_out",
        "admin:sync_knowledgesource_dry_run",
        "cockpit_ask",
        "cockpit_decisions_presence",
        "cockpit_first_search",
        "connect",
        "connect-token",
        "oauth-register",
        "oauth-revoke",
        "oauth-token",
        "rehearse_edits",
        "rehearse_new_rule",
        "rehearse_rule",
        "rules-evaluate",
        "rules-match",
        "sync-preview",
        "sync-should-sync",
        "webui:note_preview",
    }
)

# Views that need no more than `read` of a key, and may write.
WRITES: frozenset[str] = frozenset({"notes-commands", "llm-tools-execute", "mcp", "mcp-project", "store"})

# Commands of ours, or their subcommands, that read, that measure beside the hub, or that have no hub yet; every other
# one is recorded.
READING_COMMANDS: frozenset[str] = frozenset(
    {
        "account list",
        "bench",
        "bench_chinese",
        "bench_exports",
        "bench_languages",
        "bench_memory",
        "bench_beside",
        "bench_context",
        "bench_notes",
        "bench_pages",
        "bench_start",
        "bench_sync",
        "bench_vectors",
        "doctor",
        "evaluate",
        "evaluate_conflicts",
        "fit_scale",
        "measure",
        "measure_gateway",
        "messages",
        "migrate",
        "prepare_models",
        "restore",
        "sample_facts",
        "soak",
        "sync conflicts",
        "sync dry-run",
        "sync list",
        "sync show",
        "sync status",
        "timeline verify",
        "up",
    }
)

# Commands of Django and of libraries that change what the hub keeps.
FOREIGN_COMMANDS: frozenset[str] = frozenset(
    {
        "changepassword",
        "cleartokens",
        "clearcimdapplications",
        "createapplication",
        "createsuperuser",
        "dbshell",
        "flush",
        "loaddata",
        "remove_stale_contenttypes",
        "shell",
    }
)

# Which object a command acts on: its model, the field by which it is found, and the argument that names it.
OBJECTS_OF_COMMANDS: dict[str, tuple[str, str, str]] = {"account": ("auth.User", "username", "name")}

# Commands whose entry does not say whose data it was: it would name a person who was just forgotten.
NAMELESS_COMMANDS: frozenset[str] = frozenset({"forget", "unload_sample"})
