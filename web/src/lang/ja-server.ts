// Sentences of the server in Japanese, by the code of the message.

export const jaServer: Record<string, string> = {
  "page.stale": "プレビューがレシピより古くなっています。作り直してください。",
  "page.none": "プレビューがまだありません。",
};
