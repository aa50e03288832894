import type { Tile } from './tiles.ts'

/** Facts that rank the tiles. */
export interface Interests {
  /** Tiles pinned by the user, one of them perhaps large. */
  kept: ReadonlySet<string>
  /** Users who spoke, the latest first. */
  spoke: readonly string[]
}

/**
 * Ranks tiles for a limited number of places: screens, then pinned ones, then oneself, then the latest speakers, then the order of the tiles,
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
  // Both may have no rank.
  return tiles.toSorted((one, other) => (rank(one) === rank(other) ? 0 : rank(one) - rank(other)))
}

/** Order on the stage: remaining tiles keep their places, new ones take those of removed ones, and the rest follows. Oneself is always last. */
export function keepPlaces(before: readonly string[], shown: readonly Tile[]): string[] {
  const others = shown.filter(({ own, source }) => !own || source === 'screen').map(({ id }) => id)
  const staying = new Set(others)
  const was = new Set(before)
  const coming = others.filter((id) => !was.has(id))
  const order = before.flatMap((id) => (staying.has(id) ? id : (coming.shift() ?? [])))
  const own = shown.filter((tile) => tile.own && tile.source !== 'screen').map(({ id }) => id)
  // The own tile's place is never given to another one.
  return [...order, ...coming, ...own]
}
