"""The import contract that import-linter does not bring along: apps import each other by their doors."""

from grimp import DetailedImport, ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class DoorsContract(Contract):
    """From another app only its doors are imported; everything else of an app is its own business.

    container: the package whose children are the apps. doors: names of modules below an app that the others may import.
    open_apps: apps of which everything may be imported. importers: packages outside the container that are checked too.
    wiring: names that those may import besides the doors.
    """

    type_name = "doors"

    container = fields.StringField()
    doors = fields.SetField(subfield=fields.StringField())
    open_apps = fields.SetField(subfield=fields.StringField(), required=False)
    importers = fields.SetField(subfield=fields.StringField(), required=False)
    wiring = fields.SetField(subfield=fields.StringField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Collect every import that goes past a door."""
        past = [
            detail
            for importer in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if self._goes_past_a_door(importer, imported)
            for detail in graph.get_import_details(importer=importer, imported=imported)
        ]
        return ContractCheck(kept=not past, metadata={"past": past})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print one line for each import that goes past a door."""
        past: list[DetailedImport] = check.metadata["past"]
        for detail in past:
            output.print_error(f"{detail['importer']}:{detail['line_number']} imports {detail['imported']}")
        output.print_error(f"{len(past)} imports go past the doors of an app: {', '.join(sorted(self.doors))}.")

    def _goes_past_a_door(self, importer: str, imported: str) -> bool:
        root, *rest = imported.split(".")
        if root != self.container or len(rest) < 2 or rest[0] in (self.open_apps or ()):
            return False
        importer_root, *importer_rest = importer.split(".")
        if importer_root == self.container:
            return importer_rest[:1] != rest[:1] and rest[1] not in self.doors
        return importer_root in (self.importers or ()) and rest[1] not in self.doors | (self.wiring or set())
