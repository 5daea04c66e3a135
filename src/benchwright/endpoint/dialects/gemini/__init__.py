"""Translation of Google's Gemini (generateContent) into chat completions and back."""
