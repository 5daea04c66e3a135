"""Translation of OpenAI's Responses into chat completions and back."""
