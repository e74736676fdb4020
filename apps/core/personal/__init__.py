"""The data of a person in every store of the hub: each app registers what it keeps, for exports and for forgetting."""
