import type { Tile } from './tiles.ts'

/** Criteria that rank the tiles. */
export interface Interests {
  /** Tiles pinned by the user; the large one may be among them. */
  kept: ReadonlySet<string>
  /** Users who spoke, the latest first. */
  spoke: readonly string[]
}

/**
 * Ranks tiles for a limited number of places: screens, pinned tiles, the own tile, the latest speakers, and the rest in
 * joining order.
 */
export function byImportance(tiles: readonly Tile[], { kept, spoke }: Interests): Tile[] {
  const turns = new Map(spoke.map((userId, turn) => [userId, turn]))
  const rank = ({ id, source, own, person }: Tile): number => {
    if (source === 'screen') return -4
    if (kept.has(id)) return -3
    if (own) return -2
    return turns.get(person.user_id) ?? Infinity
  }
  // Both ranks may be infinite, and their difference NaN.
  return tiles.toSorted((one, other) => (rank(one) === rank(other) ? 0 : rank(one) - rank(other)))
}

/**
 * Returns the order on the stage: remaining tiles keep their places, new ones take those of removed ones, and the rest
 * follows. The own tile is always last.
 */
export function keepPlaces(before: readonly string[], shown: readonly Tile[]): string[] {
  const others = shown.filter(({ own, source }) => !own || source === 'screen').map(({ id }) => id)
  const staying = new Set(others)
  const was = new Set(before)
  const coming = others.filter((id) => !was.has(id))
  const order = before.flatMap((id) => (staying.has(id) ? id : (coming.shift() ?? [])))
  const own = shown.filter((tile) => tile.own && tile.source !== 'screen').map(({ id }) => id)
  // The own tile's place is never given to another tile.
  return [...order, ...coming, ...own]
}
