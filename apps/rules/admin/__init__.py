"""The pages of merge rules for operators: the list, the editor, trying one out, and the history."""

from apps.rules.admin.rules import MergeRuleAdmin as MergeRuleAdmin
from apps.rules.admin.versions import MergeRuleVersionAdmin as MergeRuleVersionAdmin
