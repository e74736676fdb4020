"""The one way to a chat model (DESIGN D11, docs/models.md): everything that asks one does it by `chat.chat`."""
