"""The one way to a chat model (docs/guides/chat-models.md): everything that asks one calls `chat.chat`."""
