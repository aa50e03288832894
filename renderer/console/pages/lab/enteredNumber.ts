/** What stands in a field for a number; an empty one is no number, rather than 0. */
export function enteredNumber(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text)
}
