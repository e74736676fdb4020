"""An account that goes with its person is not named any more as who acted."""

from django.db import migrations

GUARD = """
CREATE OR REPLACE FUNCTION audit_entry_guard() RETURNS trigger LANGUAGE plpgsql AS $guard$
DECLARE
    reason text := coalesce(current_setting('memoryhub.audit', true), '');
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        RAISE EXCEPTION 'entries of the audit are not deleted' USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_OP = 'DELETE' THEN
        -- Nothing younger than a month, whatever a setting says.
        IF reason = 'retention' AND OLD.at < now() - interval '30 days' THEN
            RETURN OLD;
        END IF;
        RAISE EXCEPTION 'entries of the audit are not deleted' USING ERRCODE = 'restrict_violation';
    END IF;
    -- Of a person who is forgotten the act stays: what was done, when, by whom, how it ended and from where.
    IF reason = 'forgetting'
        AND (NEW.id, NEW.at, NEW.actor_kind, NEW.action, NEW.object_type, NEW.outcome, NEW.address, NEW.request_id)
            IS NOT DISTINCT FROM
            (OLD.id, OLD.at, OLD.actor_kind, OLD.action, OLD.object_type, OLD.outcome, OLD.address, OLD.request_id)
        AND (NEW.user_id, NEW.household_id, NEW.persona_id, NEW.object_id, NEW.detail)
            IS NOT DISTINCT FROM ('', '', '', '', '{}'::jsonb)
        AND (NEW.actor = OLD.actor
            OR (OLD.actor_kind = 'key' AND NEW.actor = 'key of a forgotten user')
            OR (OLD.actor_kind = 'person'
                AND NEW.actor IN ('account of a forgotten user', 'a forgotten user')))
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'entries of the audit are not changed' USING ERRCODE = 'restrict_violation';
END
$guard$;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_never_emptied")]

    operations = [migrations.RunSQL(GUARD, migrations.RunSQL.noop)]
