"""Entries are only added: a trigger refuses what would change or delete one."""

from django.db import migrations, models

GUARD = """
CREATE FUNCTION audit_entry_guard() RETURNS trigger LANGUAGE plpgsql AS $guard$
DECLARE
    reason text := coalesce(current_setting('memoryhub.audit', true), '');
BEGIN
    IF TG_OP = 'DELETE' THEN
        -- Nothing younger than a month, whatever a setting says.
        IF reason = 'retention' AND OLD.at < now() - interval '30 days' THEN
            RETURN OLD;
        END IF;
        RAISE EXCEPTION 'entries of the audit are not deleted' USING ERRCODE = 'restrict_violation';
    END IF;
    -- Of a person who is forgotten the act stays: what was done, when, how it ended and from where.
    IF reason = 'forgetting'
        AND (NEW.id, NEW.at, NEW.actor_kind, NEW.action, NEW.object_type, NEW.outcome, NEW.address, NEW.request_id)
            IS NOT DISTINCT FROM
            (OLD.id, OLD.at, OLD.actor_kind, OLD.action, OLD.object_type, OLD.outcome, OLD.address, OLD.request_id)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'entries of the audit are not changed' USING ERRCODE = 'restrict_violation';
END
$guard$;
CREATE TRIGGER audit_entry_guard BEFORE UPDATE OR DELETE ON audit_auditentry
    FOR EACH ROW EXECUTE FUNCTION audit_entry_guard();

CREATE FUNCTION audit_entry_locked() RETURNS trigger LANGUAGE plpgsql AS $locked$
BEGIN
    -- Nothing is written of a person who is being forgotten (core/db/user_locks.py), but that something was done.
    IF NEW.user_id <> '' AND EXISTS (SELECT 1 FROM core_lockeduser WHERE user_id = NEW.user_id) THEN
        NEW.user_id := ''; NEW.household_id := ''; NEW.persona_id := ''; NEW.object_id := ''; NEW.detail := '{}';
    END IF;
    RETURN NEW;
END
$locked$;
CREATE TRIGGER audit_entry_locked BEFORE INSERT ON audit_auditentry
    FOR EACH ROW EXECUTE FUNCTION audit_entry_locked();
"""

UNGUARD = """
DROP TRIGGER audit_entry_guard ON audit_auditentry;
DROP FUNCTION audit_entry_guard();
DROP TRIGGER audit_entry_locked ON audit_auditentry;
DROP FUNCTION audit_entry_locked();
"""

COPY_LOG = """
INSERT INTO audit_auditentry (at, actor_kind, actor, action, object_type, object_id, user_id, household_id, persona_id,
    outcome, address, request_id, detail)
SELECT log.action_time, 'person', left(account.username, 200),
    coalesce(kind.model, 'object') || CASE log.action_flag WHEN 1 THEN '.add' WHEN 2 THEN '.change' ELSE '.delete' END,
    coalesce(kind.app_label || '.' || kind.model, ''), left(coalesce(log.object_id, ''), 200), '', '', '',
    'done', NULL, '', '{}'
FROM django_admin_log AS log
JOIN auth_user AS account ON account.id = log.user_id
LEFT JOIN django_content_type AS kind ON kind.id = log.content_type_id
ORDER BY log.action_time, log.id;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_initial"),
        ("core", "0004_lockeduser"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["action", "-at"], name="audit_entry_action"),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(
                condition=models.Q(("object_id", ""), _negated=True),
                fields=["object_id", "-at"],
                name="audit_entry_object",
            ),
        ),
        # What the log of the admin has of former changes; it is not written any more.
        migrations.RunSQL(COPY_LOG, migrations.RunSQL.noop),
        migrations.RunSQL(GUARD, UNGUARD),
    ]
