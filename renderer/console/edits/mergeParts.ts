/** Values of a field that consists of several, each with a control of its own. */
type Parts = Readonly<Record<string, unknown>>

/** Changes of a field by this operator and by others, part by part. */
interface MergedParts {
  /** The field if the operator's own value stays where both changed the same part. */
  mine: Parts
  /** The field if the value of others stays there. */
  theirs: Parts
  /** Both values of the parts that both changed, null where one is left out; undefined: there are none. */
  overlap: { mine: Parts; current: Parts } | undefined
}

/**
 * Merges two changes of one field.
 * @param before as both saw it
 * @param mine as this operator sends it
 * @param current as others left it
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

/** A part that is left out, off or empty is the same. */
function differs(one: unknown, other: unknown): boolean {
  return text(one) !== text(other)
}

function text(value: unknown): string {
  const isEmpty = value === null || value === undefined || value === false || value === ''
  return isEmpty || (Array.isArray(value) && value.length === 0) ? '' : JSON.stringify(value)
}
