"""The counts of uses become the log of what was given: of each, the last answer is known."""

from django.db import migrations

_MOVE = """
INSERT INTO given_givenanswer
    (uuid, user_id, household_id, persona_id, app, asked, run_id, at, memories, events, notes)
SELECT gen_random_uuid(), memory.user_id, memory.household_id, memory.persona_id, used.app, 'search', '', used.last_at,
       ARRAY[memory.uuid], '{}', '{}'
FROM semantic_memoryuse AS used JOIN semantic_memory AS memory ON memory.id = used.memory_id
"""


class Migration(migrations.Migration):

    dependencies = [
        ('given', '0001_initial'),
        ('semantic', '0025_best_memories'),
    ]

    operations = [
        migrations.RunSQL(_MOVE, migrations.RunSQL.noop),
        migrations.DeleteModel(name='MemoryUse'),
    ]
