"""Chat models: through OpenAI's wire format, through Anthropic's, and from a script."""
