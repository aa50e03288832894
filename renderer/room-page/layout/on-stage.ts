import type { Tile } from './tiles.ts'

/** Facts that make one tile more important than another. */
export interface Interests {
  /** Tiles that the person wants to keep, one of them perhaps large. */
  kept: ReadonlySet<string>
  /** Users who spoke, the latest first. */
  spoke: readonly string[]
}

/**
 * Tiles that have a place where there are too few: screens, then what the person keeps, then oneself, then who spoke last, then the order of the tiles,
 * which is that of joining.
 */
export function byImportance(tiles: readonly Tile[], { kept, spoke }: Interests): Tile[] {
  const turns = new Map(spoke.map((userId, turn) => [userId, turn]))
  const rank = ({ id, source, own, person }: Tile): number => {
    if (source === 'screen') return -4
    if (kept.has(id)) return -3
    if (own) return -2
    return turns.get(person.user_id) ?? Infinity
  }
  // Both may have no turn.
  return tiles.toSorted((one, other) => (rank(one) === rank(other) ? 0 : rank(one) - rank(other)))
}

/** Their order on the stage: who stays keeps its place, who comes takes that of who went, and what is left over is at the end. Oneself is always last. */
export function keepPlaces(before: readonly string[], shown: readonly Tile[]): string[] {
  const others = shown.filter(({ own, source }) => !own || source === 'screen').map(({ id }) => id)
  const staying = new Set(others)
  const was = new Set(before)
  const coming = others.filter((id) => !was.has(id))
  const order = before.flatMap((id) => (staying.has(id) ? id : (coming.shift() ?? [])))
  const own = shown.filter((tile) => tile.own && tile.source !== 'screen').map(({ id }) => id)
  // The place of oneself is no place of another.
  return [...order, ...coming, ...own]
}
