/** Parts of a field, each with its own control, by name. */
type Parts = Readonly<Record<string, unknown>>

/** Result of merging one operator's change of a field with the changes of others. */
interface MergedParts {
  /** The field with the operator's value in parts that both changed. */
  mine: Parts
  /** The field with the value of others in parts that both changed. */
  theirs: Parts
  /** Both values of the parts that both changed; null: the part is missing. undefined: there are no such parts. */
  overlap: { mine: Parts; current: Parts } | undefined
}

/**
 * Merges two changes of one field.
 * @param before value that both started from
 * @param mine value of this operator
 * @param current value of others
 */
export function mergeParts(before: unknown, mine: unknown, current: unknown): MergedParts {
  const [old, own, now] = [partsOf(before), partsOf(mine), partsOf(current)]
  const names = [...new Set([...Object.keys(own), ...Object.keys(now)])]
  const isMine = (name: string): boolean => differs(own[name], old[name])
  const isTheirs = (name: string): boolean => differs(now[name], old[name])
  const both = names.filter((name) => isMine(name) && isTheirs(name) && differs(own[name], now[name]))
  const pick = (parts: Parts): Parts => Object.fromEntries(both.map((name) => [name, parts[name] ?? null]))
  const made = (from: (name: string) => Parts): Parts =>
    Object.fromEntries(names.map((name) => [name, from(name)[name]]).filter(([, value]) => value !== undefined))
  return {
    mine: made((name) => (isMine(name) ? own : now)),
    theirs: made((name) => (isTheirs(name) ? now : own)),
    overlap: both.length === 0 ? undefined : { mine: pick(own), current: pick(now) },
  }
}

function partsOf(value: unknown): Parts {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Returns whether a part differs; missing, false and empty count as equal. */
function differs(one: unknown, other: unknown): boolean {
  return text(one) !== text(other)
}

function text(value: unknown): string {
  const isEmpty = value === null || value === undefined || value === false || value === ''
  return isEmpty || (Array.isArray(value) && value.length === 0) ? '' : JSON.stringify(value)
}
