"""Merge rules over REST (DESIGN section 5)."""

from typing import Any

from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Access, Permission
from apps.core.rest.authentication import HasKeyPermission
from apps.core.rest.views import LOCATION, HubView, created, operation
from apps.core.schemas.bodies import batch_limit, document_limit, pair_limit
from apps.core.schemas.serializers import validate
from apps.rules import selectors, services
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.schemas import inputs, outputs


class RulePermission(HasKeyPermission):
    """Reading rules requires `read`, changing them `operator`."""

    def has_permission(self, request: Request, view: Any) -> bool:
        access = request.auth
        needed = Permission.READ if request.method in view.reads else Permission.OPERATOR
        return isinstance(access, Access) and access.allows(needed)


def refuse_hidden(access: Access, name: str) -> None:
    """Raise NotFoundError for a rule that the caller may not see, as of a user who has stopped it."""
    if not access.bound.is_everything:
        selectors.rule_get(access, name)


class RuleView(HubView):
    """A view about rules. reads: the methods that change nothing."""

    permission_classes = [RulePermission]
    body_limit = staticmethod(document_limit)
    reads = frozenset({"GET", "HEAD", "OPTIONS"})

    def handle_exception(self, exc: Exception) -> Response:
        """Answer a bad rule with all of its problems, each with the path of its field."""
        if isinstance(exc, InvalidRuleError):
            exc = ValidationError({path or "rule": [message] for path, message in exc.problems}, code=exc.code)
        return super().handle_exception(exc)


class RulesView(RuleView):
    """All rules."""

    @operation("rules_list", query=inputs.RawQuery, answer=outputs.RuleListOutput)
    def get(self, request: Request) -> Response:
        """List the rules in the order in which they are tried, each with all settings that it inherits."""
        raw = self.read_query().get("raw", False)
        rules = selectors.rules_visible(self.access)
        documents = [selectors.rule_get(self.access, rule.name) if raw else rule.to_document() for rule in rules]
        version = outputs.shown_version(self.access, selectors.registry_version())
        results = [outputs.render_rule(self.access, document) for document in documents]
        return Response({"results": results, "count": len(results), "version": version})

    @operation(
        "rules_register", body=inputs.RULE_BODY, answer={201: outputs.RuleOutput}, errors=(409,), headers=[LOCATION]
    )
    def post(self, request: Request) -> Response:
        """Register a rule. What it leaves out, it inherits from the rule that it extends, or from the defaults."""
        outcome = services.rule_register(document=request.data, actor=self.access.actor)
        return created(outputs.render_resolved(self.access, outcome.rule), "rule", outcome.rule.name)


class OneRuleView(RuleView):
    """One rule."""

    @operation("rules_retrieve", query=inputs.RawQuery, answer=outputs.RuleOutput)
    def get(self, request: Request, name: str) -> Response:
        """Return a rule with all settings that it inherits, or with `raw` as it was sent."""
        if self.read_query().get("raw", False):
            return Response(outputs.render_rule(self.access, selectors.rule_get(self.access, name)))
        return Response(outputs.render_resolved(self.access, selectors.rule_resolved(self.access, name)))

    @operation(
        "rules_update", query=inputs.VersionQuery, body=inputs.CHANGES_BODY, answer=outputs.RuleOutput, errors=(409,)
    )
    def patch(self, request: Request, name: str) -> Response:
        """Change some settings: objects are merged member by member, null makes a setting inherit again."""
        refuse_hidden(self.access, name)
        seen = self.read_query().get("expected_version")
        outcome = services.rule_update(name=name, changes=request.data, actor=self.access.actor, expected_version=seen)
        return Response(outputs.render_resolved(self.access, outcome.rule))

    @operation("rules_delete", query=inputs.VersionQuery, answer={204: None}, errors=(409,))
    def delete(self, request: Request, name: str) -> Response:
        """Delete a rule that no other rule extends; its history stays."""
        refuse_hidden(self.access, name)
        seen = self.read_query().get("expected_version")
        services.rule_delete(name=name, actor=self.access.actor, expected_version=seen)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExportView(RuleView):
    """The rules, to store them elsewhere."""

    @operation("rules_export", answer=outputs.ExportOutput)
    def get(self, request: Request) -> Response:
        """Return all rules as they were sent, in a form that `load` accepts."""
        rules = selectors.rules_export(self.access)
        version = outputs.shown_version(self.access, selectors.registry_version())
        return Response({"rules": rules, "count": len(rules), "version": version})


class LoadView(RuleView):
    """Rules of an export."""

    body_limit = staticmethod(batch_limit)
    is_heavy = True

    @operation("rules_load", body=inputs.LoadInput, answer=outputs.RuleListOutput)
    def post(self, request: Request) -> Response:
        """Register all of these rules, or none. Existing ones are replaced; the order does not matter."""
        data = {"rules": request.data} if isinstance(request.data, list) else request.data
        documents = validate(inputs.LoadInput, data)["rules"]
        outcomes = services.rules_load(documents=documents, actor=self.access.actor)
        results = [outputs.render_resolved(self.access, outcome.rule) for outcome in outcomes]
        return Response({"results": results, "count": len(results), "version": outcomes[-1].version})


class MatchView(RuleView):
    """The rule that applies."""

    body_limit = staticmethod(pair_limit)
    reads = RuleView.reads | {"POST"}

    @operation("rules_match", body=inputs.MatchInput, answer=outputs.MatchOutput)
    def post(self, request: Request) -> Response:
        """Find the rule for a conflict of two memories. Conditions of rules apply to the candidate."""
        data = self.read_body()
        now = utcnow(SYSTEM_CLOCK)
        records = [inputs.record_of(key, data.get(key) or {}, self.access, now) for key in ("candidate", "existing")]
        found = selectors.find_matching_rule(records[0], records[1], self.access)
        rule = outputs.render_resolved(self.access, found.rule)
        version = outputs.shown_version(self.access, found.version)
        return Response({"name": found.rule.name, "rule": rule, "version": version})


class EvaluateView(RuleView):
    """The decision of a rule."""

    body_limit = staticmethod(pair_limit)
    reads = RuleView.reads | {"POST"}

    @operation("rules_evaluate", body=inputs.EvaluateInput, answer=outputs.EvaluateOutput, errors=(404,))
    def post(self, request: Request) -> Response:
        """Decide about two memories without changing anything."""
        data = self.read_body()
        now = utcnow(SYSTEM_CLOCK)
        candidate, existing = (inputs.record_of(key, data[key], self.access, now) for key in ("candidate", "existing"))
        evaluation = services.evaluate(
            self.access, candidate, existing, rule=data.get("rule"), config=data.get("config")
        )
        return Response(outputs.render_evaluation(self.access, evaluation))
